import type { WebhookDelivery } from '../../domain/event/webhook.ts'
import type { AttemptResult } from './attempt.ts'

/* Webhook deliveries, in the feed's own SQLite. `next_attempt` is null once a delivery is final. */

interface Row extends Record<string, SqlStorageValue> {
  number: number
  id: string
  webhook_id: string
  sequences: string
  status: string
  attempts: number
  manual_attempts: number
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
  attemptsByHand: row.manual_attempts,
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

interface NewDelivery {
  id: string
  webhookId: string
  sequences: number[]
  now: number
}

/** Also deletes the webhook's old deliveries. */
export const insertDelivery = (
  sql: SqlStorage,
  { id, webhookId, sequences, now }: NewDelivery,
): WebhookDelivery => {
  const row = sql
    .exec<Row>(
      `INSERT INTO deliveries (id, webhook_id, sequences, status, creation, next_attempt)
       VALUES (?1, ?2, ?3, 'pending', ?4, ?4) RETURNING *`,
      id,
      webhookId,
      JSON.stringify(sequences),
      now,
    )
    .one()
  sql.exec(
    `DELETE FROM deliveries WHERE webhook_id = ?1 AND next_attempt IS NULL
       AND (creation < ?2 OR number <= ifnull((SELECT number FROM deliveries
         WHERE webhook_id = ?1 ORDER BY number DESC LIMIT 1 OFFSET ${MAX_KEPT}), 0))`,
    webhookId,
    now - RETENTION_MS,
  )
  return toDelivery(row)
}

/** The delivery that must succeed or be abandoned before later events are delivered. */
export const pendingDelivery = (sql: SqlStorage, webhookId: string): WebhookDelivery | null => {
  const [row] = sql
    .exec<Row>(
      `SELECT * FROM deliveries WHERE webhook_id = ? AND next_attempt IS NOT NULL
       ORDER BY number LIMIT 1`,
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

/** Newest first, those with a number below `before`. */
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

/** When the next attempt is due of any webhook but these. */
export const nextAttemptAt = (sql: SqlStorage, except: Iterable<string>): number | null =>
  sql
    .exec<{ at: number | null }>(
      `SELECT min(next_attempt) AS at FROM deliveries
       WHERE next_attempt IS NOT NULL AND webhook_id NOT IN (SELECT value FROM json_each(?))`,
      JSON.stringify([...except]),
    )
    .one().at

const CLEAR_RESULT = 'response_code = NULL, failure = NULL, duration = NULL, answer = NULL'

/**
 * Counts the attempt before the call, so that one interrupted by a crash counts too; it is repeated
 * at `leaseUntil`. Returns the number of scheduled attempts, or null if the delivery is final.
 */
export const beginAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  now: number,
  leaseUntil: number,
): number | null =>
  sql
    .exec<{ scheduled: number }>(
      `UPDATE deliveries
       SET attempts = attempts + 1, last_attempt = ?, next_attempt = ?, ${CLEAR_RESULT}
       WHERE id = ? AND next_attempt IS NOT NULL RETURNING attempts - manual_attempts AS scheduled`,
      now,
      leaseUntil,
      id,
    )
    .toArray()[0]?.scheduled ?? null

/** Leaves the scheduled attempts as they are. */
export const beginManualAttempt = (sql: SqlStorage, { id }: WebhookDelivery, now: number): void => {
  sql.exec(
    `UPDATE deliveries
     SET attempts = attempts + 1, manual_attempts = manual_attempts + 1, last_attempt = ?
     WHERE id = ?`,
    now,
    id,
  )
}

/**
 * `nextAttempt` is null for a final result. A delivery that succeeded once stays delivered, and one
 * that was abandoned during the call is not retried.
 */
export const endAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  result: AttemptResult,
  nextAttempt: number | null,
): void => {
  sql.exec(
    `UPDATE deliveries SET response_code = ?2, failure = ?3, duration = ?4, answer = ?5,
       status = CASE WHEN status = 'delivered' OR ?3 IS NULL THEN 'delivered'
         WHEN next_attempt IS NULL OR ?6 IS NULL THEN 'failed' ELSE 'pending' END,
       next_attempt = CASE WHEN next_attempt IS NULL OR ?3 IS NULL THEN NULL ELSE ?6 END
     WHERE id = ?1`,
    id,
    result.responseCode,
    result.failure,
    result.durationMs,
    result.answer,
    nextAttempt,
  )
}

/** Gives up the pending deliveries whose first event is at most `upTo`. */
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
