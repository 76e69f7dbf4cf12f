import { addDays, type Day } from '../domain/day.ts'
import type { DayUsage } from '../domain/device.ts'

/** How long a device's counters are kept; the contract promises 90 days. */
export const KEPT_DAYS = 400

/** What a device has sent on one calendar day of its account. */
export const usageOn = (sql: SqlStorage, key: number, day: Day): DayUsage => {
  const [row] = sql
    .exec<{ emails: number; sms: number }>('SELECT emails, sms FROM usage WHERE device_key = ? AND day = ?', key, day)
    .toArray()
  return { date: day, emailsSent: row?.emails ?? 0, smsSent: row?.sms ?? 0 }
}

/** Every day of the span, the quiet ones too. */
export const usageBetween = (sql: SqlStorage, key: number, from: Day, to: Day): DayUsage[] => {
  const rows = sql
    .exec<{ day: string; emails: number; sms: number }>(
      'SELECT day, emails, sms FROM usage WHERE device_key = ? AND day BETWEEN ? AND ? ORDER BY day',
      key,
      from,
      to,
    )
    .toArray()
  const sent = new Map(rows.map(({ day, emails, sms }) => [day, { emailsSent: emails, smsSent: sms }]))
  const usage: DayUsage[] = []
  for (let date = from; date <= to; date = addDays(date, 1)) usage.push({ date, ...(sent.get(date) ?? { emailsSent: 0, smsSent: 0 }) })
  return usage
}

export const oldestKept = (today: Day): Day => addDays(today, -KEPT_DAYS)
