import {
  type Channel,
  type MessageKind,
  onePerAddress,
  type Recipient,
  type Status,
} from '../../domain/message/alert.ts'
import { LINK_BYTES, LINK_MARK, makeLink } from '../../domain/message/link.ts'
import { retryDelayMs } from '../../domain/message/messageRetry.ts'
import type { Day } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import type { NewMessage } from '../outbox/outbox.ts'

/* The queue of messages that are due or were sent a few days ago. */

export interface MessageRow extends Record<string, SqlStorageValue> {
  id: string
  /** The provider's idempotency key: the same on every attempt, a new one for a manual resend. */
  key: string
  device_key: number
  kind: MessageKind
  channel: Channel
  recipient: string
  time_zone: string
  user_id: string | null
  contact: string | null
  subject: string
  /** Has a mark in place of its link. */
  text: string
  /** Null once no attempt is left to make. */
  link: string | null
  urgent: number
  status: Status
  reason: string | null
  provider: string | null
  /** The account's day on which the message was counted. */
  day: Day
  accepted: number
  attempts: number
  /** Null once no attempt is left to make. */
  next_try: number | null
  /** Time of the first attempt that the provider may have accepted without our knowing. */
  unsure_since: number | null
  changed: number
}

export interface QueuedMessage {
  id: string
  key: string
  deviceKey: number
  kind: MessageKind
  channel: Channel
  to: string
  timeZone: string
  userId?: string | undefined
  contact?: string | undefined
  subject: string
  text: string
  link?: string | undefined
  urgent: boolean
}

export const findMessage = (sql: SqlStorage, id: string): MessageRow | undefined =>
  sql.exec<MessageRow>('SELECT * FROM messages WHERE id = ?', id).toArray()[0]

export const enqueueMessage = ({ sql, account, now }: Decision, message: QueuedMessage): void => {
  sql.exec(
    `INSERT OR REPLACE INTO messages (id, key, device_key, kind, channel, recipient, time_zone,
       user_id, contact, subject, text, link, urgent, status, day, accepted, next_try, changed)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, 'queued', ?, ?, ?, ?)`,
    message.id,
    message.key,
    message.deviceKey,
    message.kind,
    message.channel,
    message.to,
    message.timeZone,
    message.userId ?? null,
    message.contact ?? null,
    message.subject,
    message.text,
    message.link ?? null,
    message.urgent ? 1 : 0,
    account.day,
    now,
    now,
    now,
  )
}

/** Messages that enter the cell in one statement. */
const MAX_MESSAGES_PER_EFFECT = 50

/** A link for a message whose text has the mark of one. */
export const linkFor = ({ account }: Decision, text: string): string | undefined =>
  text.includes(LINK_MARK)
    ? makeLink(account.cell, crypto.getRandomValues(new Uint8Array(LINK_BYTES)))
    : undefined

/**
 * Adds new messages to the cell's projection, and queues those that are not suppressed. Each of
 * these gets its own link.
 */
export const queueMessages = (
  tx: Decision,
  deviceKey: number,
  composed: NewMessage[],
  urgent: boolean,
): void => {
  const messages = composed.map((message) => ({
    ...message,
    link: message.status === 'queued' ? linkFor(tx, message.text) : undefined,
  }))
  for (let first = 0; first < messages.length; first += MAX_MESSAGES_PER_EFFECT) {
    const page = messages.slice(first, first + MAX_MESSAGES_PER_EFFECT)
    tx.post({ kind: 'messages', key: deviceKey, messages: page, at: tx.now })
  }
  for (const message of messages)
    if (message.status === 'queued')
      enqueueMessage(tx, { ...message, key: message.id, deviceKey, urgent })
}

/** When the next message of a channel is due, even if its provider is throttled. */
export const nextDueTime = (sql: SqlStorage, channel: Channel): number | null => {
  const times = [1, 0].flatMap(
    (urgent) =>
      sql
        .exec<{ at: number | null }>(
          `SELECT min(next_try) AS at FROM messages
           WHERE channel = ? AND urgent = ? AND next_try IS NOT NULL`,
          channel,
          urgent,
        )
        .one().at ?? [],
  )
  return times.length === 0 ? null : Math.min(...times)
}

export interface Claim {
  channel: Channel
  urgentOnly: boolean
  leaseMs: number
  now: number
}

/**
 * Takes the next due message for an attempt, urgent ones first. The attempt is recorded beforehand
 * as one of unknown outcome: after a crash it is repeated under the same key when the lease ends.
 */
export const claimMessage = (
  sql: SqlStorage,
  { channel, urgentOnly, leaseMs, now }: Claim,
): MessageRow | null => {
  for (const urgent of urgentOnly ? [1] : [1, 0]) {
    const [row] = sql
      .exec<MessageRow>(
        `SELECT * FROM messages WHERE channel = ? AND urgent = ? AND next_try <= ?
         ORDER BY next_try LIMIT 1`,
        channel,
        urgent,
        now,
      )
      .toArray()
    if (!row) continue
    const attempts = row.attempts + 1
    sql.exec(
      `UPDATE messages SET attempts = ?, next_try = ?, unsure_since = coalesce(unsure_since, ?)
       WHERE id = ?`,
      attempts,
      now + Math.max(leaseMs, retryDelayMs(attempts, urgent === 1, 0)),
      now,
      row.id,
    )
    return { ...row, attempts }
  }
  return null
}

/** Everyone who was sent a message about an alert, whatever its kind. */
export const recipientsOfAlert = (
  sql: SqlStorage,
  alertId: string,
  isIncluded: (message: MessageRow) => boolean = () => true,
): Recipient[] => {
  const prefix = `msg_${alertId.slice(4)}`
  const rows = sql
    .exec<MessageRow>(
      'SELECT * FROM messages WHERE id > ? AND id < ? ORDER BY id',
      prefix,
      `${prefix}~`,
    )
    .toArray()
    .filter(isIncluded)
  return onePerAddress(
    rows.map(({ channel, recipient: to, time_zone: timeZone, user_id, contact }) => ({
      channel,
      to,
      timeZone,
      userId: user_id ?? undefined,
      contact: contact ?? undefined,
    })),
  )
}

/** Deletes a deleted device's messages: nothing is sent about it any more. */
export const deleteMessagesOf = (sql: SqlStorage, deviceKey: number): void => {
  sql.exec(
    'DELETE FROM receipts WHERE message_id IN (SELECT id FROM messages WHERE device_key = ?)',
    deviceKey,
  )
  sql.exec('DELETE FROM messages WHERE device_key = ?', deviceKey)
}
