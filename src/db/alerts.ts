import type { Alert, Delivery, Status } from '../domain/alert.ts'

/*
 * How alerts and their messages enter the cell. Each statement may be carried out twice, and none brings anything back for
 * a device that has gone.
 */

const STANDS = 'EXISTS (SELECT 1 FROM devices WHERE key = ?2)'

interface AlertEffect {
  accountId: string
  key: number
  alert: Alert
  messages: number
}

export const insertAlert = (
  db: D1Database,
  { accountId, key, alert, messages }: AlertEffect,
): D1PreparedStatement => {
  const { id, dateTime, name, text, latitude, longitude } = alert
  return db
    .prepare(
      `INSERT INTO alerts (account_id, device_key, id, time, name, text, latitude, longitude, messages)
       SELECT ?1, ?2, ?3, ?4, ?5, ?6, ?7, ?8, ?9 WHERE ${STANDS} ON CONFLICT DO NOTHING`,
    )
    .bind(accountId, key, id, dateTime, name, text, latitude, longitude, messages)
}

interface MessagesEffect {
  accountId: string
  key: number
  messages: (Delivery & { subject: string; text: string })[]
  at: number
  seq: number
}

export const insertMessages = (
  db: D1Database,
  { accountId, key, messages, at, seq }: MessagesEffect,
): D1PreparedStatement => {
  const rows = messages.map((m) => [
    m.id,
    m.channel,
    m.to,
    m.subject,
    m.text,
    m.status,
    m.reason,
    m.resetAt,
  ])
  return db
    .prepare(
      `INSERT INTO messages (account_id, device_key, changed, seq, attempts, id, channel, recipient, subject, text, status, reason, reset_at)
       SELECT ?1, ?2, ?3, ?4, 0, ${[0, 1, 2, 3, 4, 5, 6, 7].map((index) => `value ->> ${index}`)} FROM json_each(?5)
       WHERE ${STANDS} ON CONFLICT DO NOTHING`,
    )
    .bind(accountId, key, at, seq, JSON.stringify(rows))
}

interface StateEffect {
  accountId: string
  id: string
  status: Status
  reason: string | null
  provider: string | null
  attempts: number
  at: number
  seq: number
}

export const updateMessage = (db: D1Database, state: StateEffect): D1PreparedStatement => {
  const { accountId, id, status, reason, provider, attempts, at, seq } = state
  return db
    .prepare(
      `UPDATE messages SET status = ?3, reason = ?4, provider = ?5, attempts = ?6, changed = ?7, seq = ?8, reset_at = NULL
       WHERE account_id = ?1 AND id = ?2 AND seq < ?8`,
    )
    .bind(accountId, id, status, reason, provider, attempts, at, seq)
}

/** Deletes the alerts that a query of `id` and `account_id` names, with their messages. Answers how many alerts went. */
export const deleteAlerts = async (
  db: D1Database,
  page: string,
  values: (string | number)[],
): Promise<number> => {
  const [, gone] = await db.batch([
    db
      .prepare(
        `DELETE FROM messages WHERE (account_id, id) IN (
           SELECT m.account_id, m.id FROM (${page}) a CROSS JOIN messages m ON m.account_id = a.account_id
             AND m.id > 'msg_' || substr(a.id, 5) AND m.id < 'msg_' || substr(a.id, 5) || '~')`,
      )
      .bind(...values),
    db.prepare(`DELETE FROM alerts WHERE id IN (SELECT id FROM (${page}))`).bind(...values),
  ])
  return gone?.meta.changes ?? 0
}
