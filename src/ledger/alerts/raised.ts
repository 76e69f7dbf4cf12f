import { deleteRows, findRow, insertRow, query, readValue } from '../../db/objectTable.ts'
import type { Undelivered, UndeliveredReason } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { isMessageOf } from '../messages/messageQueue.ts'
import { messages, raised } from '../tables.ts'

/* The ids of alerts that were raised, so that a repeat raises nothing. */

export const findRaised = (sql: SqlStorage, id: string) => findRow(sql, raised, { id })

/** Why an alert that was raised reaches nobody, and how many notices say so. */
export const findUndelivered = (sql: SqlStorage, id: string): Undelivered | null => {
  const reason = findRaised(sql, id)?.undelivered
  if (!reason) return null
  const notices = query`SELECT count(*) FROM ${messages}
    WHERE ${isMessageOf(id)} AND ${messages.kind} = 'notice'`
  return { reason, notices: readValue<number>(sql, notices) }
}

interface Raised {
  remembered: boolean
  joined?: string
  undelivered: UndeliveredReason | null
}

export const rememberRaised = ({ sql, now }: Decision, id: string, about: Raised): void =>
  insertRow(sql, raised, { ...about, id, at: now })

const DAY_MS = 86_400_000
/** A request can be repeated under its Idempotency-Key for 24 hours. */
const KEPT_MS = 2 * DAY_MS

/** `keptSince`: alerts that arrived before are deleted. */
export const pruneRaised = (sql: SqlStorage, now: number, keptSince: number): void => {
  const pruneBefore = (time: number, remembered: 0 | 1) =>
    deleteRows(sql, raised, query`${raised.remembered} = ${remembered} AND ${raised.at} < ${time}`)
  pruneBefore(now - KEPT_MS, 0)
  pruneBefore(Math.min(keptSince, now - KEPT_MS), 1)
}
