import {
  areBoxesApart,
  type Box,
  boxAround,
  distanceMetres,
  isFartherThan,
  isInBox,
} from './geodesy.ts'
import { polygonsOf, type ZoneShape } from './zone.ts'
import { type Edge, edgeDistance, findBorder } from './zoneBorder.ts'
import { enclosesNorthPole, isInRing, type UnwrappedRing, unwrapRing } from './zoneRing.ts'

/*
 * Whether a place is in a zone, and how far from its border. Packages that do this are wrong at the
 * antimeridian or at the poles. Edges are straight in longitude and latitude, as GeoJSON has them.
 */

interface CompiledRing {
  ring: UnwrappedRing
  enclosesNorth: boolean
}

interface CompiledPolygon {
  box: Box
  exterior: CompiledRing
  holes: CompiledRing[]
  border: Edge[]
}

export type CompiledShape =
  | { type: 'circle'; latitude: number; longitude: number; radius: number; box: Box }
  | { type: 'polygons'; polygons: CompiledPolygon[] }

const compileRing = (ring: UnwrappedRing): CompiledRing => ({
  ring,
  enclosesNorth: enclosesNorthPole(ring),
})

const boxOf = ({ ring, enclosesNorth }: CompiledRing): Box => {
  let [south, north, west, east] = [90, -90, Number.POSITIVE_INFINITY, Number.NEGATIVE_INFINITY]
  for (const latitude of ring.latitudes) {
    south = Math.min(south, latitude)
    north = Math.max(north, latitude)
  }
  for (const longitude of ring.longitudes) {
    west = Math.min(west, longitude)
    east = Math.max(east, longitude)
  }
  if (ring.turns !== 0) {
    if (enclosesNorth) north = 90
    else south = -90
  }
  return { south, north, west, width: ring.turns === 0 ? Math.min(360, east - west) : 360 }
}

export const compileShape = (shape: ZoneShape): CompiledShape => {
  if (shape.type === 'Circle') {
    const [longitude, latitude] = shape.center
    const { radius } = shape
    const box = boxAround(latitude, longitude, radius)
    return { type: 'circle', latitude, longitude, radius, box }
  }
  const polygons = polygonsOf(shape).map((rings) => rings.map(unwrapRing))
  const borders = findBorder(polygons)
  return {
    type: 'polygons',
    polygons: polygons.flatMap((rings, index) => {
      const [exterior, ...holes] = rings.map(compileRing)
      if (!exterior) return []
      return [{ box: boxOf(exterior), exterior, holes, border: borders[index] ?? [] }]
    }),
  }
}

const isInCompiled = ({ ring, enclosesNorth }: CompiledRing, latitude: number, longitude: number) =>
  isInRing(ring, enclosesNorth, latitude, longitude)

const isInPolygon = (
  { box, exterior, holes }: CompiledPolygon,
  latitude: number,
  longitude: number,
): boolean =>
  isInBox(box, latitude, longitude) &&
  isInCompiled(exterior, latitude, longitude) &&
  !holes.some((hole) => isInCompiled(hole, latitude, longitude))

export const isInside = (shape: CompiledShape, latitude: number, longitude: number): boolean =>
  shape.type === 'circle'
    ? isInBox(shape.box, latitude, longitude) &&
      distanceMetres(shape.latitude, shape.longitude, latitude, longitude) <= shape.radius
    : shape.polygons.some((polygon) => isInPolygon(polygon, latitude, longitude))

/** Metres to the border, or Infinity when it is farther than `limit`. */
export const borderDistance = (
  shape: CompiledShape,
  latitude: number,
  longitude: number,
  limit: number,
): number => {
  if (shape.type === 'circle') {
    if (isFartherThan(shape.box, latitude, longitude, limit)) return Number.POSITIVE_INFINITY
    const fromCenter = distanceMetres(shape.latitude, shape.longitude, latitude, longitude)
    const distance = Math.abs(fromCenter - shape.radius)
    return distance > limit ? Number.POSITIVE_INFINITY : distance
  }
  let nearest = Number.POSITIVE_INFINITY
  for (const { box, border } of shape.polygons) {
    if (isFartherThan(box, latitude, longitude, Math.min(limit, nearest))) continue
    for (const edge of border)
      nearest = Math.min(nearest, edgeDistance(edge, latitude, longitude, Math.min(limit, nearest)))
  }
  return nearest > limit ? Number.POSITIVE_INFINITY : nearest
}

/**
 * Whether the place is in the zone; null when the border is nearer than the place is precise, so
 * that it decides nothing.
 */
export const evaluatePlace = (
  shape: CompiledShape,
  latitude: number,
  longitude: number,
  marginMetres: number,
): boolean | null => {
  if (marginMetres > 0 && borderDistance(shape, latitude, longitude, marginMetres) < marginMetres)
    return null
  return isInside(shape, latitude, longitude)
}

/** Whether the zone and all places of a box are farther apart than this. */
export const isShapeApart = (shape: CompiledShape, places: Box, metres: number): boolean =>
  shape.type === 'circle'
    ? areBoxesApart(places, shape.box, metres)
    : shape.polygons.every(({ box }) => areBoxesApart(places, box, metres))

const EDGE_BYTES = 120
const VERTEX_BYTES = 16

/** An estimate of the memory that a compiled shape takes. */
export const compiledBytes = (shape: CompiledShape): number => {
  if (shape.type === 'circle') return 200
  let bytes = 200
  for (const { exterior, holes, border } of shape.polygons) {
    bytes += 300 + border.length * EDGE_BYTES
    for (const { ring } of [exterior, ...holes])
      bytes += 200 + ring.longitudes.length * VERTEX_BYTES
  }
  return bytes
}
