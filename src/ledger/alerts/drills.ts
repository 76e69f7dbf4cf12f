import { deleteRows, findRow, hasRow, insertRow, query, readValue } from '../../db/objectTable.ts'
import { hasEnded } from '../../domain/account/license.ts'
import { MAX_DRILLS_PER_DAY } from '../../domain/message/emergency.ts'
import type { Decision } from '../decision.ts'
import { limitResetAt } from '../devices/dailyLimit.ts'
import { type DeviceRow, drills } from '../tables.ts'

/*
 * Drills, which test the emergency chain: alerts that are sent, checked and escalated like real ones, but
 * counted nowhere. Their number is bounded instead.
 */

const { at, day } = drills
const DAY_MS = 86_400_000
/** Longer than a message stays in the ledger: what becomes of one depends on it. */
const KEPT_MS = 30 * DAY_MS

export const isDrill = (sql: SqlStorage, alertId: string): boolean =>
  hasRow(sql, drills, { alertId })

export type DrillRefusal =
  | { ok: false; refusal: 'device-expired' }
  | { ok: false; refusal: 'drill-limit-reached'; resetAt: number }

const countToday = ({ sql, account }: Decision): number =>
  readValue<number>(sql, query`SELECT count(*) FROM ${drills} WHERE ${day} = ${account.day}`)

/** Counts a drill, or refuses it. Unlike an emergency, one of an expired device notifies nobody. */
export const beginDrill = (
  tx: Decision,
  { ends }: Pick<DeviceRow, 'ends'>,
  alertId: string,
): DrillRefusal | null => {
  const { sql, account, now } = tx
  if (hasEnded(ends, account.day)) return { ok: false, refusal: 'device-expired' }
  if (countToday(tx) >= MAX_DRILLS_PER_DAY)
    return { ok: false, refusal: 'drill-limit-reached', resetAt: limitResetAt(account) }
  deleteRows(sql, drills, query`${at} < ${now - KEPT_MS}`)
  insertRow(sql, drills, { alertId, at: now, day: account.day })
  return null
}

export type LastDrill = Pick<typeof drills.$inferSelect, 'alertId' | 'at'>

/** The drill that was run last, however long ago. */
export const findLastDrill = (sql: SqlStorage): LastDrill | null => {
  const row = findRow(sql, drills, query`${at} > 0 ORDER BY ${at} DESC LIMIT 1`)
  return row ? { alertId: row.alertId, at: row.at } : null
}
