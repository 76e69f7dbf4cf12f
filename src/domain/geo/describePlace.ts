import type { Place } from '../message/alert.ts'
import { toName } from '../message/text/messageText.ts'
import { distanceMetres, turnOf } from './geodesy.ts'
import type { Towns } from './towns.ts'
import { borderDistance, boxSize, type CompiledShape, isInside } from './zoneGeometry.ts'

/* A place in words, by the account's zones and by towns: “in Harbour”, “4.2 km NE of Porto”. */

export interface NamedZone {
  name: string
  shape: CompiledShape
}

const MAX_ZONE_METRES = 20_000
const MAX_TOWN_METRES = 500_000
const IN_TOWN_METRES = 1000
const MAX_NAME_LENGTH = 60
const RADIANS = Math.PI / 180
const METRES_PER_DEGREE = 111_320
/** Of latitude: a little more than the farthest town may be away. */
const MAX_TOWN_DEGREES = 4.6

/** Up to here the nearest town is named, whatever its size. */
const NEAR_METRES = 25_000
/** Beyond, a larger one may be this many times as far away as one of the smallest, by `SIZES`. */
const WEIGHTS = [1, 1.25, 1.6, 2] as const

const DIRECTIONS = ['N', 'NE', 'E', 'SE', 'S', 'SW', 'W', 'NW'] as const

/** The direction of a vector to the east and to the north. */
const directionOf = (east: number, north: number): string =>
  DIRECTIONS[Math.round(turnOf(Math.atan2(east, north) / RADIANS) / 45) % 8] ?? 'N'

const directionBetween = (from: Place, to: Place): string => {
  const [a, b] = [from.latitude * RADIANS, to.latitude * RADIANS]
  const turn = (to.longitude - from.longitude) * RADIANS
  return directionOf(
    Math.sin(turn) * Math.cos(b),
    Math.cos(a) * Math.sin(b) - Math.sin(a) * Math.cos(b) * Math.cos(turn),
  )
}

const STEP_METRES = 5

/** The direction from the nearest point of a zone's border: where the distance grows fastest. */
const directionFrom = ({ shape }: NamedZone, { latitude, longitude }: Place): string => {
  const distanceAt = (north: number, east: number) =>
    borderDistance(shape, latitude + north, longitude + east, 2 * MAX_ZONE_METRES)
  const here = distanceAt(0, 0)
  const degrees = STEP_METRES / METRES_PER_DEGREE
  const east = distanceAt(0, degrees / Math.max(1e-3, Math.cos(latitude * RADIANS))) - here
  // Towards the equator, since there is no place beyond a pole.
  const inward = latitude < 0 ? 1 : -1
  return directionOf(east, inward * (distanceAt(inward * degrees, 0) - here))
}

/** The smallest zone that the place is in, by the box around it. */
const zoneAround = ({ latitude, longitude }: Place, zones: NamedZone[]): NamedZone | null => {
  let smallest: NamedZone | null = null
  for (const zone of zones)
    if (
      isInside(zone.shape, latitude, longitude) &&
      (!smallest || boxSize(zone.shape) < boxSize(smallest.shape))
    )
      smallest = zone
  return smallest
}

interface Near<T> {
  found: T
  metres: number
}

const nearestZone = (
  { latitude, longitude }: Place,
  zones: NamedZone[],
): Near<NamedZone> | null => {
  let nearest: Near<NamedZone> | null = null
  for (const found of zones) {
    const limit: number = nearest?.metres ?? MAX_ZONE_METRES
    const metres = borderDistance(found.shape, latitude, longitude, limit)
    if (metres < limit) nearest = { found, metres }
  }
  return nearest
}

const rankOf = (metres: number, size: number): number =>
  metres <= NEAR_METRES
    ? metres
    : NEAR_METRES + (metres - NEAR_METRES) / (WEIGHTS[size as 0 | 1 | 2 | 3] ?? 1)

const nearestTown = (
  { latitude, longitude }: Place,
  { names, latitudes, longitudes, sizes }: Towns,
): Near<Place & { name: string }> | null => {
  let nearest: Near<Place & { name: string }> | null = null
  let lowest = Number.POSITIVE_INFINITY
  for (let at = 0; at < names.length; at++) {
    const y = latitudes[at] as number
    if (Math.abs(y - latitude) > MAX_TOWN_DEGREES) continue
    const x = longitudes[at] as number
    const metres = distanceMetres(latitude, longitude, y, x)
    const rank = rankOf(metres, sizes[at] as number)
    // False for the numbers of a broken line, too.
    if (!(metres <= MAX_TOWN_METRES && rank < lowest)) continue
    lowest = rank
    nearest = { found: { name: names[at] as string, latitude: y, longitude: x }, metres }
  }
  return nearest
}

/** “350 m”, “4.2 km”, “37 km”. */
const formatDistance = (metres: number): string => {
  if (metres < 995) return `${Math.max(10, 10 * Math.round(metres / 10))} m`
  return `${(metres / 1000).toFixed(metres < 9950 ? 1 : 0)} km`
}

/** A zone's name is text of the account, and goes into messages like the other names. */
const nameOf = ({ name }: NamedZone): string => toName(name, MAX_NAME_LENGTH) || 'a zone'

/** Null where no zone and no town is near. */
export const describePlace = (place: Place, zones: NamedZone[], towns: Towns): string | null => {
  const around = zoneAround(place, zones)
  if (around) return `in ${nameOf(around)}`
  const zone = nearestZone(place, zones)
  const town = nearestTown(place, towns)
  if (zone && (!town || zone.metres <= town.metres))
    return `${formatDistance(zone.metres)} ${directionFrom(zone.found, place)} of ${nameOf(zone.found)}`
  if (!town) return null
  const { found, metres } = town
  return metres < IN_TOWN_METRES
    ? `in ${found.name}`
    : `${formatDistance(metres)} ${directionBetween(found, place)} of ${found.name}`
}
