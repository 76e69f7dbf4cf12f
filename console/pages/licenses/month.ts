import { DAY_MS } from '../../format/time.ts'

/* Months of a calendar, `2027-01`, in no time zone. */

export const monthOf = (day: string): string => day.slice(0, 7)

const startOf = (month: string): Date => new Date(`${month}-01T00:00:00Z`)

export const addMonths = (month: string, count: number): string => {
  const date = startOf(month)
  date.setUTCMonth(date.getUTCMonth() + count)
  return date.toISOString().slice(0, 7)
}

/** The month of a day and those before it, newest first: `2026-11`, `2026-10`, … */
export const lastMonths = (day: string, count: number): string[] =>
  Array.from({ length: count }, (_, at) => addMonths(monthOf(day), -at))

/** The last day of a month, `2026-11-30`. */
export const lastDayOf = (month: string): string =>
  new Date(startOf(addMonths(month, 1)).getTime() - DAY_MS).toISOString().slice(0, 10)

const monthFormat = new Intl.DateTimeFormat('en-GB', {
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
export const monthName = (month: string): string => monthFormat.format(startOf(month))

const MONDAY = Date.UTC(2024, 0, 1)
const weekday = (style: 'short' | 'long') =>
  new Intl.DateTimeFormat('en-GB', { weekday: style, timeZone: 'UTC' })

export const WEEKDAYS = Array.from({ length: 7 }, (_, at) => ({
  short: weekday('short').format(MONDAY + at * DAY_MS),
  long: weekday('long').format(MONDAY + at * DAY_MS),
}))

/** The weeks of a month, Monday first; null where a week belongs to another month. */
export const daysOfMonth = (month: string): (string | null)[][] => {
  const first = startOf(month).getTime()
  const offset = (new Date(first).getUTCDay() + 6) % 7
  const weeks: (string | null)[][] = []
  for (let week = 0; week < 6; week++) {
    const days = Array.from({ length: 7 }, (_, at) => {
      const day = new Date(first + (week * 7 + at - offset) * DAY_MS).toISOString().slice(0, 10)
      return monthOf(day) === month ? day : null
    })
    if (days.some((day) => day !== null)) weeks.push(days)
  }
  return weeks
}
