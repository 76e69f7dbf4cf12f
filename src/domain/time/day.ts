/** A calendar day, `YYYY-MM-DD`. Days compare as strings. */
export type Day = string

const MAX_ZONES = 1000

/**
 * Creates each zone's formatter once, because that costs 82 µs. Zone names come from clients in any
 * spelling, so the cache is cleared at a thousand.
 */
export const zoneFormats = (
  create: (timeZone: string) => Intl.DateTimeFormat,
): ((timeZone: string) => Intl.DateTimeFormat) => {
  const formats = new Map<string, Intl.DateTimeFormat>()
  return (timeZone) => {
    const known = formats.get(timeZone)
    if (known) return known
    const created = create(timeZone)
    if (formats.size >= MAX_ZONES) formats.clear()
    formats.set(timeZone, created)
    return created
  }
}

const dayFormat = zoneFormats(
  (timeZone) =>
    new Intl.DateTimeFormat('en-CA', {
      timeZone,
      calendar: 'iso8601',
      year: 'numeric',
      month: '2-digit',
      day: '2-digit',
    }),
)

let cached = { second: Number.NaN, timeZone: '', day: '' }

/**
 * The calendar day of `at` in `timeZone`. The last result is kept for its second, because every zone
 * is off by whole seconds: a page of a hundred devices asks for the same day two hundred times.
 */
export const localDay = (at: number, timeZone: string): Day => {
  const second = Math.floor(at / 1000)
  if (cached.second !== second || cached.timeZone !== timeZone)
    cached = { second, timeZone, day: dayFormat(timeZone).format(at) }
  return cached.day
}

/** A real calendar day from 1001 on, so that it begins in a year of four digits in every zone. */
export const isDay = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) &&
  text >= '1001' &&
  new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text

export const addDays = (day: Day, days: number): Day =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

export const daysBetween = (from: Day, to: Day): number =>
  (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000

const MINUTE_MS = 60_000

/** The first instant of `day` or later, between `before` (not yet) and `begun` (already). */
const findBoundary = (day: Day, timeZone: string, before: number, begun: number): number => {
  while (begun - before > 1) {
    const middle = Math.floor((before + begun) / 2)
    if (localDay(middle, timeZone) >= day) begun = middle
    else before = middle
  }
  return begun
}

const clockFormat = zoneFormats(
  (timeZone) => new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }),
)

const dayStarts = new Map<string, number>()
const MAX_DAY_STARTS = 5000

/**
 * The first instant of `day` or later in `timeZone`: 01:00 when midnight is skipped, the next day
 * when the whole day is skipped (Apia, 2011-12-30).
 */
export const dayStart = (day: Day, timeZone: string): number => {
  const key = `${day} ${timeZone}`
  const known = dayStarts.get(key)
  if (known !== undefined) return known
  const start = findDayStart(day, timeZone)
  if (dayStarts.size >= MAX_DAY_STARTS) dayStarts.clear()
  dayStarts.set(key, start)
  return start
}

const findDayStart = (day: Day, timeZone: string): number => {
  const utc = Date.parse(`${day}T00:00:00Z`)
  const begun = findBoundary(day, timeZone, utc - 26 * 60 * MINUTE_MS, utc + 26 * 60 * MINUTE_MS)
  if (clockFormat(timeZone).format(begun - 120 * MINUTE_MS) === '22:00') return begun
  // When clocks went back at 00:01 (St John's until 2011), the day began twice: take the first.
  for (let at = begun - 120 * MINUTE_MS; at < begun; at += MINUTE_MS) {
    if (localDay(at, timeZone) >= day) return findBoundary(day, timeZone, at - MINUTE_MS, at)
  }
  return begun
}

/** An IANA name that the runtime knows. A bare offset is not a zone. */
export const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name) || name.length > 64) return false
  try {
    dayFormat(name)
    return true
  } catch {
    return false
  }
}
