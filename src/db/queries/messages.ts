import { sql } from 'drizzle-orm'
import { type MessageSummary, NO_DEVICE_KEY, type Status } from '../../domain/message/alert.ts'
import { LINK_VALID_MS } from '../../domain/message/link.ts'
import type { Database } from '../open.ts'
import { accounts, messages } from '../schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  placeholders,
  type Statement,
} from '../statement.ts'
import { hasDevice } from './alerts.ts'

/* How messages enter the cell. Each statement may run twice. */

/** A message as it enters the cell. */
interface NewMessage extends MessageSummary {
  subject: string
  text: string
  userId?: string | null | undefined
  contact?: string | null | undefined
  linkHash?: string | undefined
}

interface MessagesEffect {
  accountId: string
  key: number
  messages: NewMessage[]
  at: number
  seq: number
}

/** The columns that each message has its own value for, in the order of `listedValues`. */
const LISTED_COLUMNS = [
  messages.id,
  messages.kind,
  messages.channel,
  messages.recipient,
  messages.userId,
  messages.contact,
  messages.subject,
  messages.text,
  messages.status,
  messages.reason,
  messages.resetAt,
  messages.linkHash,
  messages.linkExpires,
]
const listedValues = (message: NewMessage, { key, at }: MessagesEffect) => {
  // An effect that was posted before messages had kinds has none.
  const { kind = key === NO_DEVICE_KEY ? 'notice' : 'alert' } = message
  const { id, channel, to, userId, contact, subject, text } = message
  const { status, reason, resetAt, linkHash } = message
  return [
    ...[id, kind, channel, to, userId ?? null, contact ?? null, subject, text],
    ...[status, reason, resetAt],
    ...[linkHash ?? null, linkHash ? at + LINK_VALID_MS : null],
  ]
}

const newMessages = placeholders('accountId', 'key', 'at', 'seq', 'list')
const MESSAGE_COLUMNS = names(
  messages.accountId,
  messages.deviceKey,
  messages.changed,
  messages.seq,
  messages.attempts,
  ...LISTED_COLUMNS,
)
/** The messages of a notice about the account itself belong to no device. */
const HAS_ACCOUNT = sql`EXISTS (SELECT 1 FROM ${accounts}
  WHERE ${accounts.id} = ${newMessages.accountId})`
const fillMessages = compile<Omit<MessagesEffect, 'messages'> & { list: string }>(
  sql`INSERT INTO ${messages} (${MESSAGE_COLUMNS})
    SELECT ${newMessages.accountId}, ${newMessages.key}, ${newMessages.at}, ${newMessages.seq}, 0,
      ${commaSeparated(LISTED_COLUMNS.map((_, index) => sql`value ->> ${literal(index)}`))}
    FROM json_each(${newMessages.list})
    WHERE iif(${newMessages.key} = ${literal(NO_DEVICE_KEY)}, ${HAS_ACCOUNT},
      ${hasDevice(newMessages.key)})
    ON CONFLICT DO NOTHING`,
)

export const insertMessages = (db: Database, effect: MessagesEffect): Statement => {
  const { accountId, key, at, seq } = effect
  const list = JSON.stringify(effect.messages.map((message) => listedValues(message, effect)))
  return fillMessages(db, { accountId, key, at, seq, list })
}

interface StateEffect {
  accountId: string
  id: string
  status: Status
  reason: string | null
  provider: string | null
  attempts: number
  /** The hash of a new link. */
  linkHash?: string | undefined
  /** The link, where the provider sends nothing. */
  shownLink?: string | undefined
  at: number
  seq: number
}

const state = placeholders(
  'accountId',
  'id',
  'status',
  'reason',
  'provider',
  'attempts',
  'linkHash',
  'linkExpires',
  'shownLink',
  'at',
  'seq',
)

type StateValues = Omit<StateEffect, 'linkHash' | 'shownLink'> &
  Record<'linkHash' | 'shownLink', string | null> & { linkExpires: number | null }

const fillState = compile<StateValues>(
  sql`UPDATE ${messages} SET ${names(messages.status)} = ${state.status},
      ${names(messages.reason)} = ${state.reason}, ${names(messages.provider)} = ${state.provider},
      ${names(messages.attempts)} = ${state.attempts}, ${names(messages.changed)} = ${state.at},
      ${names(messages.seq)} = ${state.seq}, ${names(messages.resetAt)} = NULL,
      ${names(messages.linkHash)} = ifnull(${state.linkHash}, ${messages.linkHash}),
      ${names(messages.linkExpires)} = ifnull(${state.linkExpires}, ${messages.linkExpires}),
      ${names(messages.link)} = ${state.shownLink}
    WHERE ${messages.accountId} = ${state.accountId} AND ${messages.id} = ${state.id}
      AND ${messages.seq} < ${state.seq}`,
)

/** Sets the state of a message, unless a later effect has set it already. */
export const updateMessage = (db: Database, effect: StateEffect): Statement => {
  const { linkHash = null, shownLink = null, at } = effect
  const linkExpires = linkHash === null ? null : at + LINK_VALID_MS
  return fillState(db, { ...effect, linkHash, linkExpires, shownLink })
}
