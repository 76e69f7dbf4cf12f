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

export const isPrecise = ({ accuracy }: TripFix): boolean =>
  accuracy === null || accuracy <= MAX_ACCURACY_METRES

export const legMetres = (a: TripFix, b: TripFix): number =>
  distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude)

/** Metres as km/h. */
export const speedOf = (metres: number, ms: number): number | null =>
  ms > 0 ? (metres * MS_PER_HOUR) / (1000 * ms) : null

const isAway = (from: TripFix, fix: TripFix): boolean =>
  legMetres(from, fix) - Math.max(from.accuracy ?? 0, fix.accuracy ?? 0) > STANDSTILL_METRES

/** The stops: where all fixes for at least five minutes are near the first of them. */
export const findStops = async (fixes: readonly TripFix[], slices: Slices): Promise<Stop[]> => {
  const stops: Stop[] = []
  let first = 0
  while (first < fixes.length) {
    const start = fixes[first] as TripFix
    let last = first
    while (last + 1 < fixes.length && !isAway(start, fixes[last + 1] as TripFix)) last++
    const turn = slices.spend(last - first + 1)
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
