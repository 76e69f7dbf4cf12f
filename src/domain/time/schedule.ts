import { addDays, type Day, dayStart, localDay, zoneFormats } from './day.ts'

export const WEEKDAYS = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'] as const
export type Weekday = (typeof WEEKDAYS)[number]

/** From a time of day until another. Past midnight it belongs to the day on which it begins. */
export interface ScheduleEntry {
  days: Weekday[]
  /** `HH:MM`. */
  from: string
  /** `HH:MM`, or `24:00`. The same as `from` means until that time on the next day. */
  to: string
}

const minutesOf = (clock: string): number => Number(clock.slice(0, 2)) * 60 + Number(clock.slice(3))

const clockFormat = zoneFormats(
  (timeZone) =>
    new Intl.DateTimeFormat('en-GB', {
      timeZone,
      hour: '2-digit',
      minute: '2-digit',
      hourCycle: 'h23',
    }),
)

const clockAt = (at: number, timeZone: string): number =>
  minutesOf(clockFormat(timeZone).format(at))

const weekdayOf = (day: Day): Weekday =>
  WEEKDAYS[(new Date(`${day}T00:00:00Z`).getUTCDay() + 6) % 7] as Weekday

/** Whether the wall clock at `at` is within the schedule. An empty schedule is always. */
export const isScheduled = (
  schedule: readonly ScheduleEntry[],
  at: number,
  timeZone: string,
): boolean => {
  if (schedule.length === 0) return true
  const today = localDay(at, timeZone)
  const clock = clockAt(at, timeZone)
  const weekday = weekdayOf(today)
  const weekdayBefore = weekdayOf(addDays(today, -1))
  return schedule.some(({ days, from, to }) => {
    const [start, end] = [minutesOf(from), minutesOf(to)]
    if (start < end) return days.includes(weekday) && clock >= start && clock < end
    return (
      (days.includes(weekday) && clock >= start) || (days.includes(weekdayBefore) && clock < end)
    )
  })
}

const MINUTE_MS = 60_000
/** In minutes. */
const [DAY, HALF_DAY] = [1440, 720]

/** When a day has this time of day; one that summer time skips is as long after midnight. */
const clockTimeOn = (day: Day, minutes: number, timeZone: string): number => {
  const at = dayStart(day, timeZone) + minutes * MINUTE_MS
  // Half a day either way: on a short day the last hour is one too far, after midnight.
  const ahead = minutes - clockAt(at, timeZone)
  const corrected = at + (((ahead + HALF_DAY + DAY) % DAY) - HALF_DAY) * MINUTE_MS
  return clockAt(corrected, timeZone) === minutes ? corrected : at
}

/** The next instant after `at` at which clocks show `HH:MM`. */
export const nextClockTime = (clock: string, at: number, timeZone: string): number => {
  const minutes = minutesOf(clock)
  const today = localDay(at, timeZone)
  const next = clockTimeOn(today, minutes, timeZone)
  return next > at ? next : clockTimeOn(addDays(today, 1), minutes, timeZone)
}
