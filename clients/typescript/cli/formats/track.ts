/* What a file says, before it is checked. */

/** A location of a report, by the names of the API. */
export interface Location {
  dateTime?: string | undefined
  latitude?: number | undefined
  longitude?: number | undefined
  [member: string]: unknown
}

export interface Point {
  /** Where it is in the file: `line 3`, `point 12`. */
  place: string
  location: Location
}

export interface Track {
  points: Point[]
  /** Positions without a time, which no track can have. */
  withoutTime: number
  /** What the file has and an import leaves out, in words. */
  notes: string[]
}

/** The file cannot be read at all. */
export class UnreadableFile extends Error {}

const TIME = /^(\d{4}-\d\d-\d\d)[T ](\d\d:\d\d)(:\d\d)?([.,]\d+)?\s*(Z|UTC|[+-]\d\d(?::?\d\d)?)?$/i

/** Date.parse takes 30 February for a day of March. */
const roundTrips = (day: string): boolean => new Date(day).toISOString().startsWith(day)
/** A date that exists, such as 2027-01-31. */
export const isDay = (text: string): boolean =>
  /^\d{4}-\d\d-\d\d$/.test(text) && !Number.isNaN(Date.parse(text)) && roundTrips(text)

/** An offset as `+05:30`; a time without one is in UTC. */
const offsetOf = (zone: string | undefined): string => {
  if (!zone || /^(z|utc)$/i.test(zone)) return 'Z'
  const [, hours, minutes = '00'] = /^([+-]\d\d):?(\d\d)?$/.exec(zone) ?? []
  return `${hours}:${minutes}`
}

/**
 * ISO 8601 with milliseconds in UTC, from ISO 8601 or the seconds or milliseconds since 1970;
 * undefined for anything else. A date alone is no time.
 */
export const parseTime = (given: unknown): string | undefined => {
  if (typeof given !== 'string' && typeof given !== 'number') return undefined
  const text = String(given).trim()
  const isNumber = /^\d{9,13}(\.\d+)?$/.test(text)
  const [, day, minute, second = ':00', fraction = '', zone] = TIME.exec(text) ?? []
  if (!isNumber && !isDay(day ?? '')) return undefined
  const milliseconds = isNumber
    ? Math.round(Number(text) * (Number(text) < 1e11 ? 1000 : 1))
    : Date.parse(
        `${day}T${minute}${second}${fraction.replace(',', '.').slice(0, 4)}${offsetOf(zone)}`,
      )
  return Number.isNaN(milliseconds) ? undefined : new Date(milliseconds).toISOString()
}

/** Undefined for text that is no number. */
export const parseNumber = (text: string | undefined): number | undefined => {
  const trimmed = text?.trim()
  if (!trimmed || !/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) return undefined
  return Number(trimmed)
}

/** GPX has m/s, a location km/h. The service keeps hundredths. */
export const toKilometresPerHour = (metresPerSecond: number): number =>
  Math.round(metresPerSecond * 360) / 100

/** Without the members that are undefined. */
export const withoutUndefined = (location: Location): Location =>
  Object.fromEntries(
    Object.entries(location).filter(([, value]) => value !== undefined),
  ) as Location
