/** A calendar day, `YYYY-MM-DD`. Days of equal length compare as strings. */
export type Day = string

const MAX_ZONES = 1000

/**
 * Making a formatter costs 82 µs, using one almost nothing: each zone's is made once. The runtime takes a zone's name in any case,
 * so whoever sends names could fill the memory with them: beyond a thousand all are made anew.
 */
export const zoneFormats = (
  make: (timeZone: string) => Intl.DateTimeFormat,
): ((timeZone: string) => Intl.DateTimeFormat) => {
  const formats = new Map<string, Intl.DateTimeFormat>()
  return (timeZone) => {
    const known = formats.get(timeZone)
    if (known) return known
    const made = make(timeZone)
    if (formats.size >= MAX_ZONES) formats.clear()
    formats.set(timeZone, made)
    return made
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

let last = { at: Number.NaN, timeZone: '', day: '' }

/**
 * The calendar day that `at` falls on in `timeZone`. A 25-hour day is one day. The last answer is kept: a page of a hundred
 * devices asks the same two hundred times, which was a quarter of what the page took.
 */
export const localDay = (at: number, timeZone: string): Day => {
  if (last.at !== at || last.timeZone !== timeZone)
    last = { at, timeZone, day: dayFormat(timeZone).format(at) }
  return last.day
}

/** A real calendar day of the years 1001–9999: 2026-02-30 is none. In no zone does one begin in a year of three digits. */
export const isDay = (text: string): boolean =>
  /^[1-9]\d{3}-\d\d-\d\d$/.test(text) &&
  text >= '1001' &&
  new Date(`${text}T00:00:00Z`).toJSON()?.slice(0, 10) === text

export const addDays = (day: Day, days: number): Day =>
  new Date(Date.parse(`${day}T00:00:00Z`) + days * 86_400_000).toISOString().slice(0, 10)

export const daysBetween = (from: Day, to: Day): number =>
  (Date.parse(`${to}T00:00:00Z`) - Date.parse(`${from}T00:00:00Z`)) / 86_400_000

const MINUTE = 60_000

/** The edge between "not yet `day`" and "`day` or later" that lies between two such instants. */
const edge = (day: Day, timeZone: string, before: number, begun: number): number => {
  while (begun - before > 1) {
    const middle = Math.floor((before + begun) / 2)
    if (localDay(middle, timeZone) >= day) begun = middle
    else before = middle
  }
  return begun
}

const clock = zoneFormats(
  (timeZone) => new Intl.DateTimeFormat('en-GB', { timeZone, hour: '2-digit', minute: '2-digit' }),
)

const starts = new Map<string, number>()
const MAX_STARTS = 5000

/**
 * The first instant at which it is `day` or later in `timeZone`: 01:00 where midnight is skipped,
 * and the start of the next day where a whole day is (Apia, 2011-12-30).
 */
export const dayStart = (day: Day, timeZone: string): number => {
  const key = `${day} ${timeZone}`
  const known = starts.get(key)
  if (known !== undefined) return known
  const start = findDayStart(day, timeZone)
  if (starts.size >= MAX_STARTS) starts.clear()
  starts.set(key, start)
  return start
}

const findDayStart = (day: Day, timeZone: string): number => {
  const utc = Date.parse(`${day}T00:00:00Z`)
  const begun = edge(day, timeZone, utc - 26 * 60 * MINUTE, utc + 26 * 60 * MINUTE)
  if (clock(timeZone).format(begun - 120 * MINUTE) === '22:00') return begun
  // Where clocks went back at 00:01 (St John's until 2011) the day began twice: the first time counts.
  for (let at = begun - 120 * MINUTE; at < begun; at += MINUTE) {
    if (localDay(at, timeZone) >= day) return edge(day, timeZone, at - MINUTE, at)
  }
  return begun
}

/** Any IANA name that the runtime knows; a bare offset is not a zone. */
export const isTimeZone = (name: string): boolean => {
  if (!/^[A-Za-z][A-Za-z0-9_+-]*(\/[A-Za-z0-9_+-]+)*$/.test(name) || name.length > 64) return false
  try {
    dayFormat(name)
    return true
  } catch {
    return false
  }
}
