import type { Channel } from '../domain/alert.ts'
import { addDays, type Day, daysBetween } from '../domain/day.ts'
import type { DayReport, DayUsage } from '../domain/device.ts'
import { reserve } from '../domain/quota.ts'

/** How long a device's counters are kept; the contract promises 90 days. */
const KEPT_DAYS = 400

interface UsageRow extends Record<string, SqlStorageValue> {
  day: string
  emails: number
  sms: number
  emails_suppressed: number
  sms_suppressed: number
  emails_reached: number
  sms_reached: number
}

/** Which columns count a channel's messages. */
const COLUMN = { Email: 'emails', SMS: 'sms' } as const

const rowOn = (sql: SqlStorage, key: number, day: Day): UsageRow | undefined =>
  sql.exec<UsageRow>('SELECT * FROM usage WHERE device_key = ? AND day = ?', key, day).toArray()[0]

/** What a device has sent on one calendar day of its account. */
export const usageOn = (sql: SqlStorage, key: number, day: Day): DayUsage => {
  const row = rowOn(sql, key, day)
  return { date: day, emailsSent: row?.emails ?? 0, smsSent: row?.sms ?? 0 }
}

/** Every day of the span, the quiet ones too. */
export const usageBetween = (sql: SqlStorage, key: number, from: Day, to: Day): DayReport[] => {
  const rows = sql
    .exec<UsageRow>(
      'SELECT * FROM usage WHERE device_key = ? AND day BETWEEN ? AND ? ORDER BY day',
      key,
      from,
      to,
    )
    .toArray()
  const sent = new Map(rows.map((row) => [row.day, row]))
  const usage: DayReport[] = []
  // Counted, for after 9999-12-31 comes nothing that is written as a day.
  for (let days = daysBetween(from, to), n = 0; n <= days; n++) {
    const date = addDays(from, n)
    const row = sent.get(date)
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

export interface Reserved {
  granted: number
  suppressed: number
  /** The limit was reached for the first time on this day: worth telling, once. */
  tells: boolean
}

/**
 * Takes as much of the day's allowance as there is. A day's counter is never begun anew: whatever the clock and the zone do,
 * a date that was used stays used.
 */
export const reserveOn = (
  sql: SqlStorage,
  key: number,
  day: Day,
  channel: Channel,
  limit: number,
  wanted: number,
): Reserved => {
  if (wanted === 0) return { granted: 0, suppressed: 0, tells: false }
  const column = COLUMN[channel]
  const row = rowOn(sql, key, day)
  const { granted, suppressed, reached } = reserve(limit, row?.[column] ?? 0, wanted)
  if (!row) {
    sql.exec('DELETE FROM usage WHERE device_key = ? AND day < ?', key, addDays(day, -KEPT_DAYS))
    sql.exec('INSERT INTO usage (device_key, day) VALUES (?, ?)', key, day)
  }
  sql.exec(
    `UPDATE usage SET ${column} = ${column} + ?, ${column}_suppressed = ${column}_suppressed + ?, ${column}_reached = max(${column}_reached, ?)
     WHERE device_key = ? AND day = ?`,
    granted,
    suppressed,
    reached ? 1 : 0,
    key,
    day,
  )
  return { granted, suppressed, tells: reached && !row?.[`${column}_reached`] }
}

/** A message that no provider ever accepted goes back to the day that it was counted on. */
export const giveBack = (sql: SqlStorage, key: number, day: Day, channel: Channel): void => {
  const column = COLUMN[channel]
  sql.exec(
    `UPDATE usage SET ${column} = max(0, ${column} - 1) WHERE device_key = ? AND day = ?`,
    key,
    day,
  )
}
