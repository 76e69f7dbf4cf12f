import {
  deleteRows,
  hasRow,
  insertRow,
  query,
  readValue,
  runQuery,
  updateRows,
} from '../../db/objectTable.ts'
import type { Database } from '../../db/open.ts'
import type { StoredEntry } from '../../db/queries/audit.ts'
import type { Runnable } from '../../db/statement.ts'
import type { Account } from '../../domain/account/account.ts'
import type { DayUsage, Device } from '../../domain/account/device.ts'
import type {
  Alert,
  AlertLogEntry,
  AlertState,
  AlertUpdate,
  MessageSummary,
  Status,
} from '../../domain/message/alert.ts'
import { account, outbox } from '../tables.ts'

/** A message as it enters the cell. */
export interface NewMessage extends MessageSummary {
  /** The message of the same effect or an earlier one that has the subject and the text. */
  textOf?: string | undefined
  subject: string
  text: string
  timeZone: string
  userId?: string | null | undefined
  contact?: string | null | undefined
  /** The link in its text, once it is queued. The cell keeps its hash. */
  link?: string | undefined
  linkHash?: string | undefined
}

/**
 * What must follow a decision in the account's cell or the directory. It is written in the
 * decision's own transaction and carried out afterwards, in order.
 */
export type Effect =
  | { kind: 'account'; account: Account; nextExpiry: number | null }
  | { kind: 'device'; device: Device; joins?: string }
  | { kind: 'undelete'; id: string }
  /** Its data are erased at `eraseAt`; at once without it. */
  | { kind: 'device-gone'; id: string; key: number; at: number; eraseAt?: number; device?: Device }
  | { kind: 'device-back'; id: string; key: number; name: string; creation: number }
  | {
      kind: 'event'
      id: string
      type: string
      time: number
      deviceId: string | null
      data: Record<string, unknown>
    }
  | { kind: 'audit'; entry: StoredEntry }
  | { kind: 'usage'; key: number; usage: DayUsage; contact?: number }
  | { kind: 'contact'; key: number; at: number }
  | { kind: 'alert'; key: number; alert: Alert; messages: number; at: number }
  /** The cell deletes these pending raises: the ledger has decided on them. */
  | { kind: 'raises-decided'; ids: string[] }
  /** Members that are left out stay as the cell has them. Each effect may add to the alert's log. */
  | {
      kind: 'alert-state'
      id: string
      state?: AlertState
      updates?: AlertUpdate[]
      messages?: number
      log?: AlertLogEntry
    }
  /** `key` is 0 for the messages of a notice about the account itself. */
  | { kind: 'messages'; key: number; messages: NewMessage[]; at: number }
  | {
      kind: 'message-state'
      id: string
      status: Status
      reason: string | null
      provider: string | null
      attempts: number
      /** A new link of the message. The cell keeps its hash. */
      link?: string
      linkHash?: string
      /** The link, where the provider sends nothing. */
      shownLink?: string
      /** The provider's id of a message that it has accepted, where its reports have nothing else. */
      providerId?: string
      at: number
    }
  | { kind: 'memberships' }
  | { kind: 'events-jump'; to: number }
  | { kind: 'account-gone'; at: number }
  | { kind: 'directory'; account: Account }
  | { kind: 'directory-gone'; cell: number }
  | { kind: 'directory-moved'; from: number; to: number }

/** An effect with its number. */
export type Posted = Effect & { seq: number }
export type PostedAs<Kind extends Effect['kind']> = Extract<Posted, { kind: Kind }>

/** The statements that carry an effect out. */
export type Write<Kind extends Effect['kind']> = (
  db: Database,
  accountId: string,
  effect: PostedAs<Kind>,
) => readonly Runnable[]

export const post = (sql: SqlStorage, effect: Effect): void =>
  insertRow(sql, outbox, { effect: JSON.stringify(effect), at: Date.now() })

/** The number of the newest effect, even if it has been carried out. */
export const lastPosted = (sql: SqlStorage): number =>
  sql.exec<{ seq: number }>("SELECT seq FROM sqlite_sequence WHERE name = 'outbox'").toArray()[0]
    ?.seq ?? 0

/** Numbers effects from after `seq`: a restored ledger would repeat numbers its cell has seen. */
export const continueAfter = (sql: SqlStorage, seq: number): void => {
  if (lastPosted(sql) >= seq) return
  insertRow(sql, outbox, { seq, effect: '' })
  deleteRows(sql, outbox, { seq })
}

const MAX_PAGE_EFFECTS = 50
const MAX_PAGE_LENGTH = 1_000_000

/** The oldest effects, as many as go to one database in one batch. */
export const readPending = (sql: SqlStorage): Posted[] => {
  const rows: { seq: number; effect: string }[] = []
  let length = 0
  for (const row of runQuery<{ seq: number; effect: string }>(
    sql,
    query`SELECT * FROM ${outbox} ORDER BY ${outbox.seq} LIMIT ${MAX_PAGE_EFFECTS}`,
  )) {
    length += row.effect.length
    if (rows.length > 0 && length > MAX_PAGE_LENGTH) break
    rows.push(row)
  }
  const effects = rows.map(({ seq, effect }) => ({ ...(JSON.parse(effect) as Effect), seq }))
  const first = effects[0]
  const end = effects.findIndex(
    (effect) => goesToDirectory(effect) !== (first !== undefined && goesToDirectory(first)),
  )
  return end === -1 ? effects : effects.slice(0, end)
}

export const goesToDirectory = (effect: Effect): boolean => effect.kind.startsWith('directory')

/** Keeps `lastEvent`: a cell whose last event is older has been restored. */
export const removeCarriedOut = (sql: SqlStorage, upTo: number, lastEvent: number): void => {
  deleteRows(sql, outbox, query`${outbox.seq} <= ${upTo}`)
  updateRows(sql, account, { eventsSeen: query`max(${account.eventsSeen}, ${lastEvent})` })
}

/** When the oldest effect was posted; null if that is not known. */
export const oldestPosted = (sql: SqlStorage): number | null =>
  readValue<number | null>(
    sql,
    query`SELECT (SELECT nullif(${outbox.at}, 0) FROM ${outbox} ORDER BY ${outbox.seq} LIMIT 1)`,
  )

export const isEmpty = (sql: SqlStorage): boolean => !hasRow(sql, outbox, query`true`)
