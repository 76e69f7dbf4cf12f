import { deleteRows, findRow, insertRow, query } from '../../db/objectTable.ts'
import type { UndeliveredReason } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { raised } from '../tables.ts'

/* The ids of alerts that were raised, so that a repeat raises nothing. */

export const findRaised = (sql: SqlStorage, id: string) => findRow(sql, raised, { id })

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
