/* Distances on the WGS 84 ellipsoid. */

const EQUATOR_RADIUS_METRES = 6_378_137
const FLATTENING = 1 / 298.257223563
const RADIANS = Math.PI / 180
/** A degree of latitude is nowhere shorter. */
const MIN_METRES_PER_DEGREE = 110_574
/** Below the ellipsoid's smallest radius of curvature, so that a lower bound stays one. */
const MIN_RADIUS_METRES = 6_335_000

/** The latitude on the auxiliary sphere. */
const reduced = (latitude: number): number =>
  Math.atan((1 - FLATTENING) * Math.tan(latitude * RADIANS))

/**
 * Metres between two places by Lambert's formula: within 0.01 % of the geodesic up to thousands of
 * kilometres, at the poles and across the antimeridian too. Takes longitudes beyond 180.
 */
export const distanceMetres = (
  latitude1: number,
  longitude1: number,
  latitude2: number,
  longitude2: number,
): number => {
  const beta1 = reduced(latitude1)
  const beta2 = reduced(latitude2)
  const sinQ = Math.sin((beta2 - beta1) / 2)
  const sinP = Math.sin((beta2 + beta1) / 2)
  const sinL = Math.sin(((longitude2 - longitude1) * RADIANS) / 2)
  const halfSquared = Math.min(1, sinQ * sinQ + Math.cos(beta1) * Math.cos(beta2) * sinL * sinL)
  if (halfSquared === 0) return 0
  const angle = 2 * Math.asin(Math.sqrt(halfSquared))
  const sinAngle = Math.sin(angle)
  const cosSquared = 1 - halfSquared
  const north =
    cosSquared === 0 ? 0 : ((angle - sinAngle) * sinP * sinP * (1 - sinQ * sinQ)) / cosSquared
  const south = ((angle + sinAngle) * (1 - sinP * sinP) * sinQ * sinQ) / halfSquared
  return EQUATOR_RADIUS_METRES * (angle - (FLATTENING / 2) * (north + south))
}

/** `value` in [0, 360). */
export const turnOf = (value: number): number => {
  // A remainder is slow, and most values need none.
  if (value >= 0 && value < 360) return value
  const rest = value % 360
  return rest < 0 ? rest + 360 : rest
}

/** Latitudes and longitudes from `west` eastwards for `width` degrees, at most 360. */
export interface Box {
  south: number
  north: number
  west: number
  width: number
}

export const isInBox = ({ south, north, west, width }: Box, latitude: number, longitude: number) =>
  latitude >= south && latitude <= north && turnOf(longitude - west) <= width

/** Whether the box is surely farther away than this. False may also mean that it is not known. */
export const isFartherThan = (
  { south, north, west, width }: Box,
  latitude: number,
  longitude: number,
  metres: number,
): boolean => {
  const latitudeGap = Math.max(south - latitude, latitude - north)
  if (latitudeGap * MIN_METRES_PER_DEGREE > metres) return true
  const east = turnOf(longitude - west)
  if (east <= width) return false
  const gap = Math.min(east - width, 360 - east)
  // The nearest point of a meridian that far east or west; beyond 90 degrees it is a pole.
  const sine = gap >= 90 ? 1 : Math.sin(gap * RADIANS)
  const angle = Math.asin(Math.min(1, Math.cos(latitude * RADIANS) * sine))
  return angle * MIN_RADIUS_METRES > metres
}

/** A box around a circle. */
export const boxAround = (latitude: number, longitude: number, metres: number): Box => {
  const angle = metres / MIN_RADIUS_METRES
  const degrees = angle / RADIANS
  const south = latitude - degrees
  const north = latitude + degrees
  const hasPole = south <= -90 || north >= 90
  const sine = Math.sin(Math.min(angle, Math.PI / 2)) / Math.cos(latitude * RADIANS)
  if (hasPole || !(sine < 1))
    return { south: Math.max(-90, south), north: Math.min(90, north), west: -180, width: 360 }
  const half = Math.asin(sine) / RADIANS + 1e-9
  return { south, north, west: longitude - half, width: 2 * half }
}

/** Whether no place of one box is within `metres` of the other. False may mean that it is not known. */
export const areBoxesApart = (a: Box, b: Box, metres: number): boolean => {
  const latitudeGap = Math.max(a.south - b.north, b.south - a.north)
  if (latitudeGap * MIN_METRES_PER_DEGREE > metres) return true
  if (turnOf(b.west - a.west) <= a.width || turnOf(a.west - b.west) <= b.width) return false
  const gap = Math.min(turnOf(b.west - a.west - a.width), turnOf(a.west - b.west - b.width))
  const sine = gap >= 90 ? 1 : Math.sin(gap * RADIANS)
  const steepest = Math.max(Math.abs(a.south), Math.abs(a.north))
  return Math.asin(Math.cos(steepest * RADIANS) * sine) * MIN_RADIUS_METRES > metres
}

/** A box around places, whichever way around the earth is shorter from the first. */
export const boxOfPlaces = (places: { latitude: number; longitude: number }[]): Box => {
  const first = places[0]?.longitude ?? 0
  let [south, north, west, east] = [90, -90, 0, 0]
  for (const { latitude, longitude } of places) {
    south = Math.min(south, latitude)
    north = Math.max(north, latitude)
    const offset = longitude - first - 360 * Math.round((longitude - first) / 360)
    west = Math.min(west, offset)
    east = Math.max(east, offset)
  }
  return { south, north, west: first + west, width: Math.min(360, east - west) }
}
