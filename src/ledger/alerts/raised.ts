import { deleteRows, findRow, hasRow, insertRow, query, readValue } from '../../db/objectTable.ts'
import type { Undelivered, UndeliveredReason } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { BUDGET_REACHED, DRILLS_REACHED } from '../messages/compose.ts'
import { isMessageOf } from '../messages/messageQueue.ts'
import type { NewMessage } from '../outbox/outbox.ts'
import { messages, raised } from '../tables.ts'
import { wasAccepted } from './emergencies.ts'

/* The ids of alerts that were raised, so that a repeat raises nothing. */

export const findRaised = (sql: SqlStorage, id: string) => findRow(sql, raised, { id })

/** Why none of an emergency's messages is sent; null if any is. */
export const reasonUnsent = (composed: NewMessage[]): UndeliveredReason | null => {
  if (composed.length === 0) return 'nobody-to-tell'
  if (composed.some(({ status }) => status === 'queued')) return null
  const isEach = (wanted: string) => composed.every(({ reason }) => reason === wanted)
  const reasons = [BUDGET_REACHED, DRILLS_REACHED] as const
  return reasons.find(isEach) ?? 'daily-limit-reached'
}

const { kind, status } = messages

/** Why all messages of an alert have failed; null if any has not, or there are none. */
const reasonFailed = (sql: SqlStorage, id: string): UndeliveredReason | null => {
  const own = query`${isMessageOf(id)} AND ${kind} <> 'notice'`
  const isLeft = query`${own} AND ${status} NOT IN ('failed', 'suppressed')`
  if (!hasRow(sql, messages, own) || hasRow(sql, messages, isLeft)) return null
  return wasAccepted(sql, id) ? 'not-delivered' : 'not-accepted'
}

/** Why an alert that was raised reaches nobody, and how many notices of that are not lost. */
export const findUndelivered = (sql: SqlStorage, id: string): Undelivered | null => {
  const reason = findRaised(sql, id)?.undelivered ?? reasonFailed(sql, id)
  if (!reason) return null
  const notices = query`SELECT count(*) FROM ${messages} WHERE ${isMessageOf(id)}
    AND ${kind} = 'notice' AND ${status} NOT IN ('failed', 'suppressed')`
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
