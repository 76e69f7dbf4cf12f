import type { Location } from '../../../api/types.ts'

/* Distances and places along a track. */

export interface Place {
  longitude: number
  latitude: number
}

const EARTH_METRES = 6_371_000
const radians = (degrees: number): number => (degrees * Math.PI) / 180

/** In metres, along the great circle. */
export const distanceBetween = (a: Place, b: Place): number => {
  const dLat = radians(b.latitude - a.latitude)
  const dLon = radians(b.longitude - a.longitude)
  const h =
    Math.sin(dLat / 2) ** 2 +
    Math.cos(radians(a.latitude)) * Math.cos(radians(b.latitude)) * Math.sin(dLon / 2) ** 2
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The direction at `a` of the shortest way to `b`: degrees clockwise from true north. */
export const bearingBetween = (a: Place, b: Place): number => {
  const [from, to, turn] = [a.latitude, b.latitude, b.longitude - a.longitude].map(radians) as [
    number,
    number,
    number,
  ]
  const east = Math.sin(turn) * Math.cos(to)
  const north = Math.cos(from) * Math.sin(to) - Math.sin(from) * Math.cos(to) * Math.cos(turn)
  return ((Math.atan2(east, north) * 180) / Math.PI + 360) % 360
}

/** In metres, along straight lines between the positions. */
export const lengthOf = (track: readonly Location[]): number =>
  track.reduce(
    (sum, location, at) =>
      sum + (at > 0 ? distanceBetween(track[at - 1] as Location, location) : 0),
    0,
  )

/** The index of the last position at or before a time. */
export const indexAt = (times: readonly number[], at: number): number => {
  let [low, high] = [0, times.length - 1]
  while (low < high) {
    const middle = Math.ceil((low + high) / 2)
    if ((times[middle] ?? 0) <= at) low = middle
    else high = middle - 1
  }
  return low
}

/** Where the device was at a time, on the straight line between two positions. */
export const positionAt = (
  track: readonly Location[],
  times: readonly number[],
  at: number,
): Place | null => {
  const index = indexAt(times, at)
  const [a, b] = [track[index], track[index + 1]]
  if (!a) return null
  if (!b) return a
  const [start, end] = [times[index] ?? 0, times[index + 1] ?? 0]
  const part = end > start ? Math.min(1, Math.max(0, (at - start) / (end - start))) : 0
  let turn = b.longitude - a.longitude
  if (turn > 180) turn -= 360
  if (turn < -180) turn += 360
  return {
    longitude: a.longitude + turn * part,
    latitude: a.latitude + (b.latitude - a.latitude) * part,
  }
}

/** Continues longitudes beyond ±180° where a track crosses the antimeridian. */
export const unwrapTrack = (places: readonly Place[]): [number, number][] => {
  let shift = 0
  return places.map(({ longitude, latitude }, at) => {
    const step = longitude - (places[at - 1]?.longitude ?? longitude)
    if (step > 180) shift -= 360
    if (step < -180) shift += 360
    return [longitude + shift, latitude]
  })
}

export interface Report {
  location: Location | null
  /** How many of its positions were new. */
  count: number
}

/**
 * The track with what was just reported. Null where it must be read again: the report had more
 * positions than the newest, or older ones than the track.
 */
export const extendTrack = (
  track: readonly Location[],
  { location, count }: Report,
  { from, to }: { from: string; to: string },
): Location[] | null => {
  if (!location || count > 1) return null
  const kept = track.filter(({ dateTime }) => dateTime >= from)
  if (location.dateTime < from || location.dateTime > to) return kept
  const last = kept.at(-1)
  return last && location.dateTime <= last.dateTime ? null : [...kept, location]
}
