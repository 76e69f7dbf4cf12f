import { distanceMetres } from '../domain/geo/geodesy.ts'
import type { Slices } from '../http/admission/slices.ts'
import { STANDSTILL_METRES } from '../rules/evaluate/signals.ts'

/* Trips and stops of a part of a track. Nothing of them is stored. */

export interface TripFix {
  time: number
  latitude: number
  longitude: number
  /** km/h */
  speed: number | null
  accuracy: number | null
}

export interface Stop {
  /** Indexes of its first and last fix. */
  first: number
  last: number
}

export interface Trip extends Stop {
  distance: number
  topSpeed: number | null
}

/** A device that stays in one place for this long stops. */
export const STOP_MS = 300_000
/** Less precise fixes say nothing about a way. */
export const MAX_ACCURACY_METRES = 1000
const MS_PER_HOUR = 3_600_000

const isPrecise = ({ accuracy }: TripFix): boolean =>
  accuracy === null || accuracy <= MAX_ACCURACY_METRES

export const legMetres = (a: TripFix, b: TripFix): number =>
  distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude)

/** Metres as km/h. */
export const speedOf = (metres: number, ms: number): number | null =>
  ms > 0 ? (metres * MS_PER_HOUR) / (1000 * ms) : null

const isAway = (from: TripFix, fix: TripFix): boolean =>
  legMetres(from, fix) - Math.max(from.accuracy ?? 0, fix.accuracy ?? 0) > STANDSTILL_METRES

/** Whether a fix is precise enough to say that the device stays within the radius of a stop. */
const isExact = ({ accuracy }: TripFix): boolean => (accuracy ?? 0) <= STANDSTILL_METRES

/**
 * The fixes of the way. A fix that is less exact than a stop is wide belongs to it only where it is
 * surely away from the one before and the next exact one; otherwise its error would count as a way.
 */
export const findWay = async (all: readonly TripFix[], slices: Slices): Promise<TripFix[]> => {
  const fixes = all.filter(isPrecise)
  const way: TripFix[] = []
  let next = 0
  for (const [index, fix] of fixes.entries()) {
    if (isExact(fix)) {
      way.push(fix)
      continue
    }
    while (next < fixes.length && (next <= index || !isExact(fixes[next] as TripFix))) next++
    const isApart = [way.at(-1), fixes[next]].every((other) => !other || isAway(other, fix))
    if (isApart) way.push(fix)
    const turn = slices.spend(2)
    if (turn) await turn
  }
  return way
}

/** The stops: where all exact fixes for at least five minutes are near the first of them. */
export const findStops = async (fixes: readonly TripFix[], slices: Slices): Promise<Stop[]> => {
  const stops: Stop[] = []
  let first = 0
  while (first < fixes.length) {
    const start = fixes[first] as TripFix
    let last = first
    let next = first + 1
    for (; isExact(start) && next < fixes.length; next++) {
      const fix = fixes[next] as TripFix
      if (isAway(start, fix)) break
      if (isExact(fix)) last = next
    }
    const turn = slices.spend(next - first)
    if (turn) await turn
    if ((fixes[last] as TripFix).time - start.time >= STOP_MS) {
      stops.push({ first, last })
      first = last + 1
    } else first++
  }
  return stops
}

/**
 * Its distance and top speed: the fastest reported one or, where none was reported, that of the
 * fastest leg.
 */
const measureWay = async (
  fixes: readonly TripFix[],
  { first, last }: Stop,
  slices: Slices,
): Promise<Pick<Trip, 'distance' | 'topSpeed'>> => {
  let distance = 0
  let reported: number | null = null
  let measured: number | null = null
  for (let index = first; index <= last; index++) {
    const fix = fixes[index] as TripFix
    if (fix.speed !== null) reported = Math.max(reported ?? 0, fix.speed)
    const before = index > first ? fixes[index - 1] : undefined
    if (before) {
      const metres = legMetres(before, fix)
      const speed = speedOf(metres, fix.time - before.time)
      if (speed !== null) measured = Math.max(measured ?? 0, speed)
      distance += metres
    }
    const turn = slices.spend(1)
    if (turn) await turn
  }
  return { distance, topSpeed: reported ?? measured }
}

/** The ways between stops, from the last fix of one to the first of the next. */
export const findTrips = async (
  fixes: readonly TripFix[],
  stops: readonly Stop[],
  slices: Slices,
): Promise<Trip[]> => {
  const trips: Trip[] = []
  let first = 0
  const addTrip = async (last: number) => {
    if (last <= first) return
    const way = await measureWay(fixes, { first, last }, slices)
    if (way.distance > STANDSTILL_METRES) trips.push({ first, last, ...way })
  }
  for (const stop of stops) {
    await addTrip(stop.first)
    first = stop.last
  }
  await addTrip(fixes.length - 1)
  return trips
}
