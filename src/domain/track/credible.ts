import type { QuarantineReason } from '../account/source.ts'
import type { Fix } from './fix.ts'

/* Whether a location that a source reports can be true. */

const EARTH_KM = 6371.0088
const DAY_MS = 86_400_000

/** Before it no network reports; clocks without a battery start at 1970, 1980, 1999 or 2000. */
const EARLIEST = Date.UTC(2000, 0, 3)
/** The week number of GPS has ten bits: a receiver that does not count further goes back by this. */
const GPS_ROLLOVER_MS = 1024 * 7 * DAY_MS
/** A receiver without a fix starts at the last rollover. */
const LAST_ROLLOVER = Date.UTC(2019, 3, 7)

/** What of a fix decides whether it is credible. */
export type Place = Pick<Fix, 'time' | 'latitude' | 'longitude' | 'accuracy'>

const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** The great-circle distance. */
export const distanceKm = (a: Place, b: Place): number => {
  const [from, to] = [radians(a.latitude), radians(b.latitude)]
  const half =
    Math.sin((to - from) / 2) ** 2 +
    Math.cos(from) * Math.cos(to) * Math.sin(radians(b.longitude - a.longitude) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.min(1, Math.sqrt(half)))
}

/** The least speed that both fixes together need, in km/h, whatever their errors. */
export const leastSpeed = (a: Place, b: Place): number => {
  const errorKm = ((a.accuracy ?? 0) + (b.accuracy ?? 0)) / 1000
  const km = Math.max(0, distanceKm(a, b) - errorKm)
  const hours = Math.abs(a.time - b.time) / 3_600_000
  return km === 0 ? 0 : km / hours
}

/** True when a device can have been at both places. `maxSpeed` 0 means that nothing is checked. */
export const canBeBoth = (a: Place, b: Place, maxSpeed: number): boolean =>
  maxSpeed === 0 || a.time === b.time || leastSpeed(a, b) <= maxSpeed

const isWithinDay = (a: number, b: number): boolean => Math.abs(a - b) <= DAY_MS

/**
 * Whether a clock is more than a day off. Trackers report late, so of times in the past only those
 * count at which clocks start, and those that a whole rollover separates from the arrival.
 */
export const isClockWrong = (dateTime: number, now: number): boolean =>
  dateTime > now + DAY_MS ||
  dateTime < EARLIEST ||
  isWithinDay(dateTime, LAST_ROLLOVER) ||
  isWithinDay(dateTime, now - GPS_ROLLOVER_MS)

/** What is wrong with a fix by itself. */
export const findFault = (fix: Place, now: number): QuarantineReason | null => {
  if (fix.latitude === 0 && fix.longitude === 0) return 'zero-coordinates'
  return isClockWrong(fix.time, now) ? 'clock' : null
}

/** The stored fixes next to an instant, and the one at it. */
export interface Neighbours {
  before: Place | null
  at: Place | null
  after: Place | null
}

const isSamePlace = (a: Place, b: Place | null): boolean =>
  a.latitude === b?.latitude && a.longitude === b.longitude

/**
 * The times of fixes that need a higher speed than `maxSpeed`. The fixes are in order of time; each
 * is compared with its stored neighbours and the credible one before it. A repeat is credible.
 */
export const findTooFast = (
  fixes: readonly Place[],
  neighboursOf: (time: number) => Neighbours,
  maxSpeed: number,
): Set<number> => {
  const tooFast = new Set<number>()
  if (maxSpeed === 0) return tooFast
  let own: Place | null = null
  for (const fix of fixes) {
    const { before: stored, at, after } = neighboursOf(fix.time)
    if (isSamePlace(fix, at)) continue
    const before: Place | null = own !== null && own.time >= (stored?.time ?? 0) ? own : stored
    const isCredible = [before, after].every(
      (other) => other === null || canBeBoth(fix, other, maxSpeed),
    )
    if (isCredible) own = fix
    else tooFast.add(fix.time)
  }
  return tooFast
}

/** How many fixes that agree with each other show that the accepted one was wrong. */
export const AGREEING_FIXES = 3

export const agree = (fixes: readonly Place[], maxSpeed: number): boolean => {
  const ordered = [...fixes].sort((a, b) => a.time - b.time)
  return ordered.every((fix, at) => {
    const before = ordered[at - 1]
    return before === undefined || canBeBoth(before, fix, maxSpeed)
  })
}

/** How many of the first fixes agree with each other, all together. */
export const countAgreeing = (fixes: readonly Place[], maxSpeed: number): number => {
  let count = 0
  while (count < fixes.length && agree(fixes.slice(0, count + 1), maxSpeed)) count++
  return count
}
