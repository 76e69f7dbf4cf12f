import {
  deleteRows,
  findRow,
  hasRow,
  insertRow,
  query,
  readValue,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import {
  type Channel,
  NO_DEVICE_KEY,
  onePerAddress,
  type Recipient,
} from '../../domain/message/alert.ts'
import { LINK_BYTES, LINK_MARK, makeLink } from '../../domain/message/link.ts'
import { retryDelayMs } from '../../domain/message/messageRetry.ts'
import type { MessageText } from '../../domain/message/text/messageText.ts'
import type { Decision } from '../decision.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { type MessageRow, messages, receipts } from '../tables.ts'

/* The queue of messages that are due or were sent a few days ago. */

/** The text of a message, which another one of its alert may have. */
export const readText = (sql: SqlStorage, message: MessageRow): MessageText => {
  const { subject, text } =
    (message.textOf === null ? undefined : findMessage(sql, message.textOf)) ?? message
  return { subject, text }
}

export const findMessage = (sql: SqlStorage, id: string): MessageRow | undefined =>
  findRow(sql, messages, { id })

/** A message without its state. */
export type QueuedMessage = Recipient &
  Pick<MessageRow, 'id' | 'key' | 'deviceKey' | 'kind' | 'subject' | 'text' | 'urgent'> & {
    link?: string | undefined
    textOf?: string | undefined
  }

export const enqueueMessage = ({ sql, account, now }: Decision, message: QueuedMessage): void => {
  const state = { status: 'queued', accepted: now, nextTry: now, changed: now } as const
  insertRow(sql, messages, { ...message, ...state, day: account.day }, 'replace')
}

/** Messages that enter the cell in one statement. */
const MAX_MESSAGES_PER_EFFECT = 50

/** A link for a message whose text has the mark of one. */
export const linkFor = ({ account }: Decision, text: string): string | undefined =>
  text.includes(LINK_MARK)
    ? makeLink(account.cell, crypto.getRandomValues(new Uint8Array(LINK_BYTES)))
    : undefined

/**
 * Keeps each text once, in the first message that has it: an alert may have hundreds of recipients.
 * The first is queued if any of them is, because a channel's quota goes to its first recipients.
 */
const shareTexts = (messages: NewMessage[]): NewMessage[] => {
  const holders = new Map<string, string>()
  return messages.map((message) => {
    const key = `${message.subject}\n${message.text}`
    const textOf = holders.get(key)
    if (textOf !== undefined) return { ...message, textOf, subject: '', text: '' }
    holders.set(key, message.id)
    return message
  })
}

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
  const withLinks = composed.map((message) => ({
    ...message,
    link: message.status === 'queued' ? linkFor(tx, message.text) : undefined,
  }))
  // Messages of a notice are deleted one by one, so each has its own text.
  const linked = deviceKey === NO_DEVICE_KEY ? withLinks : shareTexts(withLinks)
  for (let first = 0; first < linked.length; first += MAX_MESSAGES_PER_EFFECT) {
    const page = linked.slice(first, first + MAX_MESSAGES_PER_EFFECT)
    tx.post({ kind: 'messages', key: deviceKey, messages: page, at: tx.now })
  }
  for (const message of linked)
    if (message.status === 'queued')
      enqueueMessage(tx, { ...message, key: message.id, deviceKey, urgent })
}

/** Whether the provider's id is that of another message by the same channel. */
export const isIdOfOther = (
  sql: SqlStorage,
  { id, channel }: Pick<MessageRow, 'id' | 'channel'>,
  providerId: string,
): boolean =>
  hasRow(
    sql,
    messages,
    query`${messages.channel} = ${channel} AND ${messages.providerId} = ${providerId}
      AND ${messages.id} <> ${id}`,
  )

/** When the next message of a channel is due, even if its provider is throttled. */
export const nextDueTime = (sql: SqlStorage, channel: Channel): number | null => {
  const times = [1, 0].flatMap((urgent) => {
    const first = query`SELECT min(${messages.nextTry}) FROM ${messages}
      WHERE ${messages.channel} = ${channel} AND ${messages.urgent} = ${urgent}
        AND ${messages.nextTry} IS NOT NULL`
    return readValue<number | null>(sql, first) ?? []
  })
  return times.length === 0 ? null : Math.min(...times)
}

export interface Due {
  channel: Channel
  urgentOnly: boolean
  now: number
}

/** The next due message, urgent ones first. */
export const findDue = (
  sql: SqlStorage,
  { channel, urgentOnly, now }: Due,
): MessageRow | undefined => {
  const isDue = (urgent: number) => query`${messages.channel} = ${channel}
    AND ${messages.urgent} = ${urgent} AND ${messages.nextTry} <= ${now}
    ORDER BY ${messages.nextTry} LIMIT 1`
  const urgent = findRow(sql, messages, isDue(1))
  return urgent ?? (urgentOnly ? undefined : findRow(sql, messages, isDue(0)))
}

/**
 * Takes a message for an attempt. The attempt is recorded beforehand as one of unknown outcome:
 * after a crash it is repeated under the same key when the lease ends.
 */
export const claimMessage = (
  sql: SqlStorage,
  row: MessageRow,
  { leaseMs, now }: { leaseMs: number; now: number },
): MessageRow => {
  const attempts = row.attempts + 1
  const nextTry = now + Math.max(leaseMs, retryDelayMs(attempts, row.urgent, 0))
  const unsureSince = row.unsureSince ?? now
  updateRows(sql, messages, { attempts, nextTry, unsureSince }, { id: row.id })
  return { ...row, ...readText(sql, row), attempts }
}

/** The ids of an alert's messages begin with the alert's. */
export const isMessageOf = (alertId: string) => {
  const prefix = `msg_${alertId.slice(4)}`
  return query`${messages}.${messages.id} > ${prefix} AND ${messages}.${messages.id} < ${`${prefix}~`}`
}

/** Everyone who was sent a message about an alert, whatever its kind. */
export const recipientsOfAlert = (
  sql: SqlStorage,
  alertId: string,
  isIncluded: (message: MessageRow) => boolean = () => true,
): Recipient[] => {
  const rows = selectRows(sql, messages, query`${isMessageOf(alertId)} ORDER BY ${messages.id}`)
  return onePerAddress(
    rows.filter(isIncluded).map(({ channel, to, timeZone, userId, contact }) => ({
      channel,
      to,
      timeZone,
      userId,
      contact,
    })),
  )
}

/** Deletes a deleted device's messages: nothing is sent about it any more. */
export const deleteMessagesOf = (sql: SqlStorage, deviceKey: number): void => {
  const isOfDevice = query`${receipts.messageId} IN (
    SELECT ${messages.id} FROM ${messages} WHERE ${messages.deviceKey} = ${deviceKey})`
  deleteRows(sql, receipts, isOfDevice)
  deleteRows(sql, messages, { deviceKey })
}
