import { signal } from '@preact/signals'
import { text } from '../text/text.ts'

/* Times in the viewer's zone. */

const SECOND_MS = 1000
export const MINUTE_MS = 60 * SECOND_MS
export const HOUR_MS = 60 * MINUTE_MS
export const DAY_MS = 24 * HOUR_MS

/** The present time, renewed often enough for "2 minutes ago". */
export const now = signal(Date.now())
setInterval(() => {
  now.value = Date.now()
}, 15_000)

const dateTime = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  year: 'numeric',
  hour: '2-digit',
  minute: '2-digit',
})
const dateTimeSeconds = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'short',
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
})
const day = new Intl.DateTimeFormat('en-GB', {
  day: 'numeric',
  month: 'long',
  year: 'numeric',
  timeZone: 'UTC',
})
const dayHere = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'long', year: 'numeric' })

export const formatDateTime = (value: string | number): string => dateTime.format(new Date(value))

export const formatExact = (value: string | number): string =>
  dateTimeSeconds.format(new Date(value))

export const formatUtc = (value: string | number): string =>
  `${new Date(value).toISOString().slice(0, 19).replace('T', ' ')} UTC`

/** A calendar day of the API, `2027-01-01`, which is in no zone. */
export const formatDay = (value: string): string => day.format(new Date(`${value}T00:00:00Z`))

/** The day, in the viewer's zone, on which an instant falls. */
export const formatDayOf = (value: string): string => dayHere.format(new Date(value))

export const formatAgo = (value: string | number): string => {
  const age = now.value - new Date(value).getTime()
  if (age < -MINUTE_MS) return formatDateTime(value)
  if (age < MINUTE_MS) return text.time.justNow
  if (age < HOUR_MS) return text.time.minutesAgo(Math.floor(age / MINUTE_MS))
  if (age < 2 * DAY_MS) return text.time.hoursAgo(Math.floor(age / HOUR_MS))
  return text.time.daysAgo(Math.floor(age / DAY_MS))
}

const padded = (value: number, length = 2): string => String(value).padStart(length, '0')

/**
 * For `<input type="datetime-local">`, in the viewer's zone. Exact for early years too, whose offsets
 * have seconds: while "2026" is typed, the year is 2, 20 and 202.
 */
export const toLocalInput = (at: number): string => {
  const date = new Date(at)
  const day = [padded(date.getFullYear(), 4), padded(date.getMonth() + 1), padded(date.getDate())]
  return `${day.join('-')}T${padded(date.getHours())}:${padded(date.getMinutes())}`
}

/** The calendar day, `2027-01-01`, that it is in a time zone. */
export const dayIn = (timeZone: string, at = Date.now()): string =>
  new Intl.DateTimeFormat('en-CA', { timeZone }).format(at)

export const viewerZone = Intl.DateTimeFormat().resolvedOptions().timeZone
