import type { Account } from '../domain/account.ts'
import { alertIdOf, type Channel, type Status } from '../domain/alert.ts'
import { base32Time } from '../domain/base32.ts'
import type { Day } from '../domain/day.ts'
import { backoff } from '../domain/messageRetry.ts'
import { emit } from './books.ts'
import { post } from './outbox.ts'
import { giveBack, usageOn } from './usage.ts'

/* The messages that are on their way, or were a few days ago. Synchronous, inside the caller's transaction. */

export interface MessageRow extends Record<string, SqlStorageValue> {
  id: string
  /** What the provider knows the message by: the same on every try, another once it is sent again by hand. */
  key: string
  device_key: number
  channel: Channel
  recipient: string
  subject: string
  text: string
  urgent: number
  status: Status
  reason: string | null
  provider: string | null
  /** The account's day that it was counted on. */
  day: Day
  accepted: number
  attempts: number
  /** Null once there is nothing more to do. */
  next_try: number | null
  /** The first try since which it may have been accepted without our knowing. */
  unsure_since: number | null
  changed: number
}

export type NewMessage = Pick<
  MessageRow,
  'id' | 'key' | 'device_key' | 'channel' | 'recipient' | 'subject' | 'text' | 'urgent' | 'day'
>

/** Receipts come within hours; what lies longer is told by the cell alone. */
const KEPT = 3 * 86_400_000
/** A request is repeated under its Idempotency-Key for 24 hours. */
const RAISED_KEPT = 2 * 86_400_000
const PRUNE_PAGE = 500

export const findMessage = (sql: SqlStorage, id: string): MessageRow | undefined =>
  sql.exec<MessageRow>('SELECT * FROM messages WHERE id = ?', id).toArray()[0]

export const enqueue = (sql: SqlStorage, message: NewMessage, now: number): void => {
  const { id, key, device_key, channel, recipient, subject, text, urgent, day } = message
  sql.exec(
    `INSERT OR REPLACE INTO messages (id, key, device_key, channel, recipient, subject, text, urgent, status, day, accepted, next_try, changed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)`,
    id,
    key,
    device_key,
    channel,
    recipient,
    subject,
    text,
    urgent,
    day,
    now,
    now,
    now,
  )
}

/** When the next message of a channel is due, whether or not something is in its way. */
export const nextDue = (sql: SqlStorage, channel: Channel): number | null => {
  const due = [1, 0].map(
    (urgent) =>
      sql
        .exec<{ at: number | null }>(
          'SELECT min(next_try) AS at FROM messages WHERE channel = ? AND urgent = ? AND next_try IS NOT NULL',
          channel,
          urgent,
        )
        .one().at,
  )
  return due.reduce((a, b) => (a === null ? b : b === null ? a : Math.min(a, b)), null)
}

/**
 * Takes the next due message for a try. The try is written down before it is made, as one whose outcome is not known: should
 * we fall over in the middle, `lease` later it is made again under the same key.
 */
export const claim = (
  sql: SqlStorage,
  channel: Channel,
  urgentOnly: boolean,
  lease: number,
  now: number,
): MessageRow | null => {
  for (const urgent of urgentOnly ? [1] : [1, 0]) {
    const [row] = sql
      .exec<MessageRow>(
        'SELECT * FROM messages WHERE channel = ? AND urgent = ? AND next_try <= ? ORDER BY next_try LIMIT 1',
        channel,
        urgent,
        now,
      )
      .toArray()
    if (!row) continue
    sql.exec(
      'UPDATE messages SET attempts = attempts + 1, next_try = ?, unsure_since = coalesce(unsure_since, ?) WHERE id = ?',
      now + Math.max(lease, backoff(row.attempts + 1, urgent === 1, 0)),
      now,
      row.id,
    )
    return { ...row, attempts: row.attempts + 1 }
  }
  return null
}

interface Change {
  status: Status
  reason: string | null
  provider: string | null
  nextTry: number | null
  unsureSince: number | null
}

const EVENTS: Partial<Record<Status, string>> = { sent: 'message.sent', failed: 'message.failed' }

/** A receipt that comes before the provider's answer is the first to say that the message went out. */
const eventOf = (before: Status, after: Status): string | undefined => {
  if (after === before) return undefined
  return EVENTS[before === 'queued' && after === 'delivered' ? 'sent' : after]
}

/** Where a message stands now. The cell is told when anyone would see a difference, the log once for each status. */
export const changeMessage = (
  sql: SqlStorage,
  account: Account,
  before: MessageRow,
  change: Change,
  now: number,
): void => {
  const { id, channel, device_key } = before
  const { status, reason, provider, nextTry, unsureSince } = change
  sql.exec(
    'UPDATE messages SET status = ?, reason = ?, provider = ?, next_try = ?, unsure_since = ?, changed = ? WHERE id = ?',
    status,
    reason,
    provider,
    nextTry,
    unsureSince,
    now,
    id,
  )
  if (status !== before.status || reason !== before.reason) {
    post(sql, {
      kind: 'message-state',
      accountId: account.id,
      id,
      status,
      reason,
      provider,
      attempts: before.attempts,
      at: now,
    })
  }
  const event = eventOf(before.status, status)
  if (!event) return
  const [device] = sql
    .exec<{ id: string }>('SELECT id FROM devices WHERE key = ?', device_key)
    .toArray()
  emit(sql, account.id, event, now, device?.id ?? null, {
    messageId: id,
    alertId: alertIdOf(id),
    channel,
    ...(status === 'failed' && { reason }),
  })
}

/** Given up or refused. What surely no provider accepted does not count. */
export const failMessage = (
  sql: SqlStorage,
  account: Account,
  before: MessageRow,
  { reason, provider, unsureSince }: Pick<Change, 'reason' | 'provider' | 'unsureSince'>,
  now: number,
): void => {
  changeMessage(
    sql,
    account,
    before,
    { status: 'failed', reason, provider, nextTry: null, unsureSince },
    now,
  )
  if (unsureSince !== null) return
  giveBack(sql, before.device_key, before.day, before.channel)
  if (before.day === account.day)
    post(sql, {
      kind: 'usage',
      key: before.device_key,
      usage: usageOn(sql, before.device_key, account.day),
    })
}

/** A deleted device tells nobody anything any more. */
export const dropMessagesOf = (sql: SqlStorage, deviceKey: number): void => {
  sql.exec(
    'DELETE FROM receipts WHERE message_id IN (SELECT id FROM messages WHERE device_key = ?)',
    deviceKey,
  )
  sql.exec('DELETE FROM messages WHERE device_key = ?', deviceKey)
}

/** When something is to be forgotten next. */
export const nextPrune = (sql: SqlStorage): number | null => {
  const { oldest } = sql
    .exec<{ oldest: number | null }>(
      'SELECT min(changed) AS oldest FROM messages WHERE next_try IS NULL',
    )
    .one()
  return oldest === null ? null : oldest + KEPT
}

export const prune = (sql: SqlStorage, now: number): void => {
  sql.exec('DELETE FROM raised WHERE id < ?', `alr_${base32Time(now - RAISED_KEPT)}`)
  const old = sql
    .exec<{ id: string }>(
      'SELECT id FROM messages WHERE next_try IS NULL AND changed <= ? LIMIT ?',
      now - KEPT,
      PRUNE_PAGE,
    )
    .toArray()
  for (const { id } of old) {
    sql.exec('DELETE FROM receipts WHERE message_id = ?', id)
    sql.exec('DELETE FROM messages WHERE id = ?', id)
  }
}
