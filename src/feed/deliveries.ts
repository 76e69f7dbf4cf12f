import type { WebhookDelivery } from '../domain/webhook.ts'
import type { Attempt } from './attempt.ts'

/* What was brought, or is still to be: rows of the feed's own SQLite. */

interface Row extends Record<string, SqlStorageValue> {
  number: number
  id: string
  webhook_id: string
  sequences: string
  status: string
  attempts: number
  by_hand: number
  response_code: number | null
  failure: string | null
  duration: number | null
  answer: string | null
  creation: number
  last_attempt: number | null
  next_attempt: number | null
}

const toDelivery = (row: Row): WebhookDelivery => ({
  number: row.number,
  id: row.id,
  webhookId: row.webhook_id,
  sequences: JSON.parse(row.sequences) as number[],
  status: row.status as WebhookDelivery['status'],
  attempts: row.attempts,
  attemptsByHand: row.by_hand,
  responseCode: row.response_code,
  failure: row.failure as WebhookDelivery['failure'],
  durationMs: row.duration,
  answer: row.answer,
  creation: row.creation,
  lastAttempt: row.last_attempt,
  nextAttempt: row.next_attempt,
})

const MAX_KEPT = 1000
const RETENTION_MS = 30 * 86_400_000

export const insertDelivery = (
  sql: SqlStorage,
  id: string,
  webhookId: string,
  sequences: number[],
  now: number,
): WebhookDelivery => {
  const row = sql
    .exec<Row>(
      `INSERT INTO deliveries (id, webhook_id, sequences, status, creation, next_attempt) VALUES (?1, ?2, ?3, 'pending', ?4, ?4) RETURNING *`,
      id,
      webhookId,
      JSON.stringify(sequences),
      now,
    )
    .one()
  sql.exec(
    `DELETE FROM deliveries WHERE webhook_id = ?1 AND next_attempt IS NULL AND (creation < ?2 OR number <=
       ifnull((SELECT number FROM deliveries WHERE webhook_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${MAX_KEPT}), 0))`,
    webhookId,
    now - RETENTION_MS,
  )
  return toDelivery(row)
}

/** The one that waits: while there is one, nothing after it is brought. */
export const pendingDelivery = (sql: SqlStorage, webhookId: string): WebhookDelivery | null => {
  const [row] = sql
    .exec<Row>(
      'SELECT * FROM deliveries WHERE webhook_id = ? AND next_attempt IS NOT NULL ORDER BY number LIMIT 1',
      webhookId,
    )
    .toArray()
  return row ? toDelivery(row) : null
}

export const findDelivery = (
  sql: SqlStorage,
  webhookId: string,
  id: string,
): WebhookDelivery | null => {
  const [row] = sql
    .exec<Row>('SELECT * FROM deliveries WHERE id = ? AND webhook_id = ?', id, webhookId)
    .toArray()
  return row ? toDelivery(row) : null
}

/** Newest first, before a number. */
export const listDeliveries = (
  sql: SqlStorage,
  webhookId: string,
  before: number,
  limit: number,
): WebhookDelivery[] =>
  sql
    .exec<Row>(
      'SELECT * FROM deliveries WHERE webhook_id = ? AND number < ? ORDER BY number DESC LIMIT ?',
      webhookId,
      before,
      limit,
    )
    .toArray()
    .map(toDelivery)

export const nextAttempt = (sql: SqlStorage): number | null =>
  sql
    .exec<{ at: number | null }>(
      'SELECT min(next_attempt) AS at FROM deliveries WHERE next_attempt IS NOT NULL',
    )
    .one().at

const CLEAR_RESULT = 'response_code = NULL, failure = NULL, duration = NULL, answer = NULL'

/**
 * Counted before the call: a crash in the middle of it is an attempt too, and is followed by the next. What the one before it met
 * is forgotten with its beginning. Answers how many have come by themselves, which is what the wait goes by; null where it does not wait
 * any more.
 */
export const beginAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  now: number,
  again: number,
): number | null =>
  sql
    .exec<{ scheduled: number }>(
      `UPDATE deliveries SET attempts = attempts + 1, last_attempt = ?, next_attempt = ?, ${CLEAR_RESULT}
       WHERE id = ? AND next_attempt IS NOT NULL RETURNING attempts - by_hand AS scheduled`,
      now,
      again,
      id,
    )
    .toArray()[0]?.scheduled ?? null

/** One that somebody asked for: what is to come by itself stays as it is. */
export const beginManualAttempt = (sql: SqlStorage, { id }: WebhookDelivery, now: number): void => {
  sql.exec(
    'UPDATE deliveries SET attempts = attempts + 1, by_hand = by_hand + 1, last_attempt = ? WHERE id = ?',
    now,
    id,
  )
}

/**
 * `again`: when it is tried next; null where it is done with. What got through once has, whatever comes of a further attempt, and what
 * was given up meanwhile is not taken up again.
 */
export const endAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  result: Attempt,
  again: number | null,
): void => {
  sql.exec(
    `UPDATE deliveries SET response_code = ?2, failure = ?3, duration = ?4, answer = ?5,
       status = CASE WHEN status = 'delivered' OR ?3 IS NULL THEN 'delivered' WHEN next_attempt IS NULL OR ?6 IS NULL THEN 'failed' ELSE 'pending' END,
       next_attempt = CASE WHEN next_attempt IS NULL OR ?3 IS NULL THEN NULL ELSE ?6 END
     WHERE id = ?1`,
    id,
    result.responseCode,
    result.failure,
    result.durationMs,
    result.answer,
    again,
  )
}

/** `upTo`: the last event that is not brought any more. */
export const abandonPending = (
  sql: SqlStorage,
  webhookId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): void => {
  sql.exec(
    `UPDATE deliveries SET status = 'failed', failure = 'disabled', next_attempt = NULL
     WHERE webhook_id = ? AND next_attempt IS NOT NULL AND sequences ->> 0 <= ?`,
    webhookId,
    upTo,
  )
}
