import {
  deleteRows,
  findRow,
  insertRow,
  query,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import type { DayReport, DayUsage } from '../../domain/account/device.ts'
import { openLimit, reserve } from '../../domain/account/quota.ts'
import type { Channel } from '../../domain/message/alert.ts'
import { addDays, type Day, daysBetween } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import { type MessageRow, messageCounts } from '../tables.ts'

/* What each device has sent on which day of its account. */

/** More than the 90 days that the contract promises. */
const KEPT_DAYS = 400

const { deviceKey, day: countedDay, sent: sentCount } = messageCounts

export const usageOn = (sql: SqlStorage, key: number, day: Day): DayUsage => {
  const rows = selectRows(sql, messageCounts, { deviceKey: key, day })
  return { date: day, sent: Object.fromEntries(rows.map(({ channel, sent }) => [channel, sent])) }
}

/** Every day from `from` to `to`, days without messages too. */
export const usageBetween = (sql: SqlStorage, key: number, from: Day, to: Day): DayReport[] => {
  // Counts days instead of comparing them: the day after 9999-12-31 has no written form.
  const usage = Array.from(
    { length: daysBetween(from, to) + 1 },
    (_, index): DayReport => ({
      date: addDays(from, index),
      sent: {},
      suppressed: {},
    }),
  )
  const rows = selectRows(
    sql,
    messageCounts,
    query`${deviceKey} = ${key} AND ${countedDay} BETWEEN ${from} AND ${to}`,
  )
  const byDay = new Map(usage.map((day) => [day.date, day]))
  for (const { day, channel, sent, suppressed } of rows) {
    const report = byDay.get(day)
    if (report) [report.sent[channel], report.suppressed[channel]] = [sent, suppressed]
  }
  return usage
}

/** Messages to send by a channel. */
export interface Wanted {
  channel: Channel
  isEmergency: boolean
  wanted: number
  /** At most so many are granted, whatever the limit allows. */
  allowed?: number
}

interface Limit {
  limit: number
  /** The part of the limit that only emergencies may use. */
  reserve: number
}

interface Reserved {
  granted: number
  /** The whole limit is used, not only the part that is open to ordinary alerts. */
  isReached: boolean
  /** The limit is reached for the first time on this day. */
  isNewlyReached: boolean
}

/**
 * Reserves as many of the wanted messages as the limit of the account's day allows. A day's counter
 * never starts again, whatever the clock and the zone do.
 */
export const reserveMessages = (
  { sql, account }: Decision,
  key: number,
  { channel, limit, reserve: reserved, isEmergency, wanted, allowed = wanted }: Wanted & Limit,
): Reserved => {
  if (wanted === 0) return { granted: 0, isReached: false, isNewlyReached: false }
  const { day } = account
  const counter = { deviceKey: key, day, channel }
  const row = findRow(sql, messageCounts, counter)
  const before = row ?? { sent: 0, suppressed: 0, emergency: 0, reached: false }
  const usedByEmergencies = before.emergency
  const open = openLimit({ limit, reserve: reserved, usedByEmergencies, isEmergency })
  const { granted, suppressed } = reserve(
    Math.min(open, before.sent + allowed),
    before.sent,
    wanted,
  )
  const isReached = before.sent + granted >= limit
  const changes = {
    sent: before.sent + granted,
    suppressed: before.suppressed + suppressed,
    emergency: before.emergency + (isEmergency ? granted : 0),
    reached: before.reached || isReached,
  }
  if (row) updateRows(sql, messageCounts, changes, counter)
  else {
    const isOld = query`${deviceKey} = ${key} AND ${countedDay} < ${addDays(day, -KEPT_DAYS)}`
    deleteRows(sql, messageCounts, isOld)
    insertRow(sql, messageCounts, { ...counter, ...changes })
  }
  return { granted, isReached, isNewlyReached: isReached && !before.reached }
}

/** Uncounts a message that no provider accepted, on the day that it was counted. */
export const uncountMessage = (
  sql: SqlStorage,
  counter: Pick<MessageRow, 'deviceKey' | 'day' | 'channel'>,
  { isEmergency, units = 1 }: { isEmergency: boolean; units?: number },
): void => {
  const sent = query`max(0, ${sentCount} - ${units})`
  const emergency = query`max(0, ${messageCounts.emergency} - ${isEmergency ? units : 0})`
  updateRows(sql, messageCounts, { sent, emergency }, counter)
}

/** Shows the cell what a device has sent today. */
export const postUsage = (tx: Decision, key: number, contact?: number): void => {
  const usage = usageOn(tx.sql, key, tx.account.day)
  tx.post({ kind: 'usage', key, usage, ...(contact !== undefined && { contact }) })
}
