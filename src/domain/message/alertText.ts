import { countOf } from '../text/countOf.ts'
import { zoneFormats } from '../time/day.ts'
import type { Alert, Motion, Place } from './alert.ts'

/* How an alert's name, time and position are written, in messages and on the page of a link. */

/** The names that Perigee itself gives, in words. */
const LABELS: Readonly<Record<string, string>> = {
  SOSButton: 'SOS button',
  CriticalAlert: 'Critical alert',
  LowBattery: 'Low battery',
  SpeedLimit: 'Speed limit',
  ForbiddenArea: 'Forbidden area',
  ZoneEntered: 'Zone entered',
  ZoneLeft: 'Zone left',
  ValueLimit: 'Value limit',
  MissedCheckIn: 'Missed check-in',
}

/** The name of an alert as people read it; an account's own names stay as they are. */
export const alertLabel = (name: string): string =>
  (Object.hasOwn(LABELS, name) ? LABELS[name] : undefined) ?? name

const timeFormat = (isLong: boolean) =>
  zoneFormats(
    (timeZone) =>
      new Intl.DateTimeFormat('en-GB', {
        timeZone,
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        timeZoneName: 'shortOffset',
        ...(isLong && { weekday: 'short', year: 'numeric', second: '2-digit' }),
      }),
  )
const [longFormat, shortFormat] = [timeFormat(true), timeFormat(false)]

export const formatLongTime = (at: number, timeZone: string): string =>
  `${longFormat(timeZone).format(at)} (${timeZone})`

export const formatShortTime = (at: number, timeZone: string): string =>
  shortFormat(timeZone).format(at)

export const placeOf = ({ latitude, longitude }: Pick<Alert, keyof Place>): Place | null =>
  latitude === null || longitude === null ? null : { latitude, longitude }

const MINUTE_MS = 60_000
const UNITS = [
  { name: 'day', short: 'd', ms: 1440 * MINUTE_MS },
  { name: 'hour', short: 'h', ms: 60 * MINUTE_MS },
  { name: 'minute', short: 'min', ms: MINUTE_MS },
] as const

/** A duration in its largest unit, rounded down; null below a minute. */
const inUnits = (ms: number): { count: number; name: string; short: string } | null => {
  const unit = UNITS.find((one) => ms >= one.ms)
  return unit ? { count: Math.floor(ms / unit.ms), name: unit.name, short: unit.short } : null
}

const inWords = (duration: ReturnType<typeof inUnits>): string =>
  duration ? countOf(duration.count, duration.name) : 'less than a minute'

/** “3 days ago”, “less than a minute ago”. */
export const describeAgo = (at: number, now: number): string => `${inWords(inUnits(now - at))} ago`

type Positioned = Pick<Alert, 'dateTime' | 'positionTime' | 'positionSource'>

/** How long before or after the alert its position was taken; null if it is the alert's own. */
const ageOf = ({ dateTime, positionTime, positionSource }: Positioned) => {
  if (positionSource !== 'last-known') return null
  if (positionTime === null) return { age: null, side: null }
  const age = inUnits(Math.abs(dateTime - positionTime))
  return { age, side: positionTime > dateTime ? 'after' : 'before' } as const
}

/** “Last known position, 3 days before the alert”; null when the alert has its own position. */
export const describeAge = (alert: Positioned): string | null => {
  const found = ageOf(alert)
  if (!found) return null
  const { age, side } = found
  if (side === null) return 'Last known position, of unknown age'
  return `Last known position, ${inWords(age)} ${side} the alert`
}

/** The same for an SMS: “Last known 3 d before: ”; empty when the alert has its own position. */
export const shortAge = (alert: Positioned): string => {
  const found = ageOf(alert)
  if (!found) return ''
  const { age, side } = found
  if (side === null) return 'Last known: '
  return age ? `Last known ${age.count} ${age.short} ${side}: ` : `Last known <1 min ${side}: `
}

/** “12 minutes old”, when a message is sent. */
export const describePlaceAge = (time: number, sentAt = time): string => {
  return `${inWords(inUnits(sentAt - time))} old`
}

/** The same for an SMS. */
export const shortPlaceAge = (time: number, sentAt = time): string => {
  const age = inUnits(sentAt - time)
  return age ? `${age.count} ${age.short} old: ` : '<1 min old: '
}

const rounded = (value: number): string => String(Math.round(value * 10) / 10)

/** Speed, course and accuracy, as far as they are known. */
export const describeMotion = ({ speed, course, accuracy }: Motion): [string, string][] => [
  ...(speed == null ? [] : [['Speed', `${rounded(speed)} km/h`] as [string, string]]),
  ...(course == null ? [] : [['Course', `${rounded(course)}°`] as [string, string]]),
  ...(accuracy == null ? [] : [['Accuracy', `${rounded(accuracy)} m`] as [string, string]]),
]
