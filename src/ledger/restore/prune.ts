import { deleteRows, query, readValue, selectRows } from '../../db/objectTable.ts'
import { DEFAULT_RETENTION_DAYS, keptSince } from '../../domain/account/account.ts'
import { readAccount } from '../accounts/accountRow.ts'
import { prunePresses } from '../alerts/presses.ts'
import { pruneRaised } from '../alerts/raised.ts'
import { pruneCooldowns } from '../alerts/ruleRaises.ts'
import { alertStates, emergencies, messages, notes, notices, receipts } from '../tables.ts'

const DAY_MS = 86_400_000
/**
 * Receipts arrive within hours, and no message waits for longer than a day. After this only the cell
 * has the message.
 */
const MESSAGES_KEPT_MS = 3 * DAY_MS
/** An emergency that nobody has acknowledged is open for this long: nothing joins it later. */
const EMERGENCIES_KEPT_MS = 7 * DAY_MS
/** A notice or a note is requested again within minutes if its request failed. */
const NOTICES_KEPT_MS = 2 * DAY_MS
const MAX_PRUNED = 500

/** When the next message is old enough to be deleted. */
export const nextPruneTime = (sql: SqlStorage): number | null => {
  const oldest = readValue<number | null>(
    sql,
    query`SELECT min(${messages.changed}) FROM ${messages} WHERE ${messages.nextTry} IS NULL`,
  )
  return oldest === null ? null : oldest + MESSAGES_KEPT_MS
}

/** Deletes what no repeat and no receipt can ask for any more. */
export const prune = (sql: SqlStorage, now: number): void => {
  const since = keptSince(now, readAccount(sql)?.retentionDays ?? DEFAULT_RETENTION_DAYS)
  pruneRaised(sql, now, since)
  prunePresses(sql, since)
  const { raisedAt, checkAt, nextRound, againAt } = emergencies
  const isSettled = query`coalesce(${checkAt}, ${nextRound}, ${againAt}) IS NULL`
  deleteRows(sql, alertStates, query`${alertStates.changed} < ${since}`)
  deleteRows(sql, emergencies, query`${raisedAt} < ${now - EMERGENCIES_KEPT_MS} AND ${isSettled}`)
  deleteRows(sql, notices, query`${notices.accepted} < ${now - NOTICES_KEPT_MS}`)
  deleteRows(sql, notes, query`${notes.at} < ${now - NOTICES_KEPT_MS}`)
  pruneCooldowns(sql, now)
  const isOld = query`${messages.nextTry} IS NULL
    AND ${messages.changed} <= ${now - MESSAGES_KEPT_MS} LIMIT ${MAX_PRUNED}`
  for (const { id } of selectRows(sql, messages, isOld)) {
    deleteRows(sql, receipts, { messageId: id })
    deleteRows(sql, messages, { id })
  }
}
