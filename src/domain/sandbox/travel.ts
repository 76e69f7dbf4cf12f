import type { Location } from '../track/location.ts'

/*
 * Where a simulated device is at a time. Pure: the same time always gives the same place, so that a
 * simulation which was interrupted continues every track without a jump.
 */

const HOUR_MS = 3_600_000
const MINUTE_MS = 60_000
const EARTH_KM = 6371
const STEP_KM = 80
const KM_PER_DEGREE = 111.2
const RADIANS = Math.PI / 180

/**
 * Points as latitude, longitude and metres above the sea. Longitudes beyond 180 continue a route
 * across the antimeridian.
 */
export type Point = readonly [latitude: number, longitude: number, elevation?: number]
export type Route = readonly [Point, Point, ...Point[]]
export type Kind = 'ship' | 'boat' | 'truck' | 'aircraft' | 'team' | 'buoy'

/** How a kind of device travels. */
export interface Pace {
  /** The usual speed. */
  kmh: number
  /** How long a day it moves. */
  hours: number
  /** How long it stays at each end. */
  pauseHours: number
  /** How often it reports. */
  everyMinutes: number
  /** How far beside the straight line it goes. */
  swayKm: number
}

export interface Traveller extends Pace {
  kind: Kind
  route: Route
  /** How many hours along its route it is at `epoch`. */
  ahead: number
  epoch: number
}

type Place = readonly [latitude: number, longitude: number, ...unknown[]]

export const distanceKm = ([lat1, lon1]: Place, [lat2, lon2]: Place): number => {
  const a =
    Math.sin(((lat2 - lat1) * RADIANS) / 2) ** 2 +
    Math.cos(lat1 * RADIANS) *
      Math.cos(lat2 * RADIANS) *
      Math.sin(((lon2 - lon1) * RADIANS) / 2) ** 2
  return 2 * EARTH_KM * Math.asin(Math.sqrt(a))
}

const mixNumbers = (a: number, b: number, share: number): number => a + (b - a) * share

const mix = (a: Point, b: Point, share: number): Point => {
  const [latitude, longitude] = [mixNumbers(a[0], b[0], share), mixNumbers(a[1], b[1], share)]
  if (a[2] === undefined) return [latitude, longitude]
  return [latitude, longitude, mixNumbers(a[2], b[2] ?? a[2], share)]
}

interface Measured {
  at: Point
  /** The distance from the start of the route. */
  km: number
}

/** A route with the distance from its start at each point. Long legs get points in between. */
const measure = ([start, ...others]: Route): Measured[] => {
  let last: Measured = { at: start, km: 0 }
  const points = [last]
  let from: Point = start
  for (const to of others) {
    const pieces = Math.ceil(distanceKm(from, to) / STEP_KM)
    for (let piece = 1; piece <= pieces; piece++) {
      const at = mix(from, to, piece / pieces)
      last = { at, km: last.km + distanceKm(last.at, at) }
      points.push(last)
    }
    from = to
  }
  return points
}

const measured = new Map<Route, Measured[]>()
const pointsOf = (route: Route): Measured[] => {
  const points = measured.get(route) ?? measure(route)
  measured.set(route, points)
  return points
}
export const lengthKm = (route: Route): number => pointsOf(route).at(-1)?.km ?? 0

/** The place after `km` of a route, a little beside the straight line except near the ends. */
export const placeAt = ({ route, swayKm }: Pick<Traveller, 'route' | 'swayKm'>, done: number) => {
  const points = pointsOf(route)
  const length = lengthKm(route)
  const km = Math.min(done, length)
  const index = Math.max(
    1,
    points.findIndex((point) => point.km >= km),
  )
  const [from, to] = points.slice(index - 1, index + 1)
  if (!from || !to) throw new Error('a route has no leg')
  const [latitude, longitude, elevation] = mix(from.at, to.at, (km - from.km) / (to.km - from.km))
  const fade = Math.min(1, km / 60, (length - km) / 60)
  const sway = (Math.sin(km / 23) * 0.7 + Math.sin(km / 7.3) * 0.3) * swayKm * fade
  return {
    latitude: latitude + sway / KM_PER_DEGREE,
    longitude: longitude + (sway * 0.6) / KM_PER_DEGREE / Math.cos(latitude * RADIANS),
    elevation,
    length,
  }
}

/** Kilometres travelled since 1970, were the route endless. It moves for `hours` of each day. */
const odometer = ({ kmh, hours, route }: Traveller, at: number): number => {
  // The working day begins at about five in the morning where the route begins.
  const local = at / HOUR_MS + route[0][1] / 15 - 5
  const day = Math.floor(local / 24)
  return kmh * (day * hours + Math.min(local - day * 24, hours))
}

/** How far along its route the device is, out and back with a pause at each end. */
const progressKm = (one: Traveller, at: number): number => {
  const { kmh, pauseHours, ahead, route } = one
  const length = lengthKm(route)
  const pause = kmh * pauseHours
  const round = 2 * (length + pause)
  const origin = odometer(one, one.epoch) - ahead * kmh
  const done = (((odometer(one, at) - origin) % round) + round) % round
  if (done < length) return done
  if (done < length + pause) return length
  if (done < 2 * length + pause) return 2 * length + pause - done
  return 0
}

const round = (value: number, places: number): number =>
  Math.round(value * 10 ** places) / 10 ** places
const wrap = (longitude: number): number => ((((longitude + 180) % 360) + 360) % 360) - 180

const altitudeOf = (
  { kind }: Traveller,
  { elevation, length }: ReturnType<typeof placeAt>,
  km: number,
): number | undefined =>
  kind === 'aircraft' ? Math.min(7600, Math.min(km, length - km) * 62) : elevation

type Sensors = Pick<Location, 'battery' | 'fuel' | 'temperature'>

/** What the sensors of a kind of device add to a location. */
const SENSORS: Record<Kind, (hours: number, km: number) => Sensors> = {
  ship: (hours) => ({ temperature: round(-18 + Math.sin(hours / 5) * 0.8, 1) }),
  boat: (hours) => ({ battery: round(86 + Math.sin(hours / 24) * 12, 0) }),
  truck: (hours, km) => ({ fuel: round(95 - ((km / 9 + hours) % 70), 0), battery: 100 }),
  aircraft: () => ({ battery: 100 }),
  team: (hours) => ({ battery: round(100 - (hours % 60) * 1.4, 0) }),
  buoy: (hours) => ({
    battery: round(93 - (hours % 720) / 30, 0),
    temperature: round(17 + Math.sin(hours / 24) * 1.2, 1),
  }),
}

/** The location that a device reports at a time. */
export const locationAt = (one: Traveller, at: number): Location => {
  const km = progressKm(one, at)
  const place = placeAt(one, km)
  const before = placeAt(one, progressKm(one, at - MINUTE_MS))
  const north = place.latitude - before.latitude
  const east = (place.longitude - before.longitude) * Math.cos(place.latitude * RADIANS)
  const speed = (Math.hypot(north, east) * KM_PER_DEGREE * HOUR_MS) / MINUTE_MS
  const altitude = altitudeOf(one, place, km)
  return {
    dateTime: at,
    latitude: round(place.latitude, 5),
    longitude: round(wrap(place.longitude), 5),
    speed: round(speed, 1),
    ...(speed > 0.1 && { course: round((Math.atan2(east, north) / RADIANS + 360) % 360, 1) }),
    ...(altitude !== undefined && { altitude: round(altitude, 0) }),
    ...SENSORS[one.kind](at / HOUR_MS, km),
    source: 'gnss',
  }
}

/** The times between `from` and `to`, without `from`, at which a device reports. */
export const reportTimes = (
  { everyMinutes }: Pick<Pace, 'everyMinutes'>,
  from: number,
  to: number,
): number[] => {
  const step = everyMinutes * MINUTE_MS
  const times: number[] = []
  for (let at = Math.floor(from / step) * step + step; at <= to; at += step) times.push(at)
  return times
}
