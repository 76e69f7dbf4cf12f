import type { DayReport, DayUsage } from '../../domain/account/device.ts'
import { openLimit, reserve } from '../../domain/account/quota.ts'
import type { Channel } from '../../domain/message/alert.ts'
import { addDays, type Day, daysBetween } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'

/* What each device has sent on which day of its account. */

/** The contract promises 90 days. */
const KEPT_DAYS = 400

interface UsageRow extends Record<string, SqlStorageValue> {
  day: string
  emails: number
  sms: number
  emails_suppressed: number
  sms_suppressed: number
  emails_reached: number
  sms_reached: number
  /** The part of `emails` and `sms` that emergencies sent. */
  emails_emergency: number
  sms_emergency: number
}

/** The columns that count a channel's messages begin with this. */
const COLUMN = { Email: 'emails', SMS: 'sms' } as const

const findRow = (sql: SqlStorage, key: number, day: Day): UsageRow | undefined =>
  sql.exec<UsageRow>('SELECT * FROM usage WHERE device_key = ? AND day = ?', key, day).toArray()[0]

export const usageOn = (sql: SqlStorage, key: number, day: Day): DayUsage => {
  const row = findRow(sql, key, day)
  return { date: day, emailsSent: row?.emails ?? 0, smsSent: row?.sms ?? 0 }
}

/** Every day from `from` to `to`, days without messages too. */
export const usageBetween = (sql: SqlStorage, key: number, from: Day, to: Day): DayReport[] => {
  const rows = sql
    .exec<UsageRow>(
      'SELECT * FROM usage WHERE device_key = ? AND day BETWEEN ? AND ? ORDER BY day',
      key,
      from,
      to,
    )
    .toArray()
  const byDay = new Map(rows.map((row) => [row.day, row]))
  const usage: DayReport[] = []
  // Counts days instead of comparing them: the day after 9999-12-31 has no written form.
  for (let days = daysBetween(from, to), n = 0; n <= days; n++) {
    const date = addDays(from, n)
    const row = byDay.get(date)
    usage.push({
      date,
      emailsSent: row?.emails ?? 0,
      smsSent: row?.sms ?? 0,
      ...(row?.emails_suppressed && { emailsSuppressed: row.emails_suppressed }),
      ...(row?.sms_suppressed && { smsSuppressed: row.sms_suppressed }),
    })
  }
  return usage
}

export interface Wanted {
  channel: Channel
  limit: number
  /** The part of the limit that only emergencies may use. */
  reserve: number
  isEmergency: boolean
  wanted: number
}

export interface Reserved {
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
  { channel, limit, reserve: reserved, isEmergency, wanted }: Wanted,
): Reserved => {
  if (wanted === 0) return { granted: 0, isReached: false, isNewlyReached: false }
  const { day } = account
  const column = COLUMN[channel]
  const row = findRow(sql, key, day)
  const used = row?.[column] ?? 0
  const open = openLimit({
    limit,
    reserve: reserved,
    usedByEmergencies: row?.[`${column}_emergency`] ?? 0,
    isEmergency,
  })
  const { granted, suppressed } = reserve(open, used, wanted)
  const reached = used + granted >= limit
  if (!row) {
    sql.exec('DELETE FROM usage WHERE device_key = ? AND day < ?', key, addDays(day, -KEPT_DAYS))
    sql.exec('INSERT INTO usage (device_key, day) VALUES (?, ?)', key, day)
  }
  sql.exec(
    `UPDATE usage SET ${column} = ${column} + ?, ${column}_suppressed = ${column}_suppressed + ?,
       ${column}_reached = max(${column}_reached, ?),
       ${column}_emergency = ${column}_emergency + ?
     WHERE device_key = ? AND day = ?`,
    granted,
    suppressed,
    reached ? 1 : 0,
    isEmergency ? granted : 0,
    key,
    day,
  )
  const isNewlyReached = reached && !row?.[`${column}_reached`]
  return { granted, isReached: reached, isNewlyReached }
}

/** A counted message. */
export interface Counted {
  key: number
  day: Day
  channel: Channel
  isEmergency: boolean
}

/** Uncounts a message that no provider accepted, on the day that it was counted. */
export const releaseMessage = (
  sql: SqlStorage,
  { key, day, channel, isEmergency }: Counted,
): void => {
  const column = COLUMN[channel]
  sql.exec(
    `UPDATE usage SET ${column} = max(0, ${column} - 1),
       ${column}_emergency = max(0, ${column}_emergency - ?) WHERE device_key = ? AND day = ?`,
    isEmergency ? 1 : 0,
    key,
    day,
  )
}

/** Shows the cell what a device has sent today. */
export const postUsage = (tx: Decision, key: number, contact?: number): void => {
  const usage = usageOn(tx.sql, key, tx.account.day)
  tx.post({ kind: 'usage', key, usage, ...(contact !== undefined && { contact }) })
}
