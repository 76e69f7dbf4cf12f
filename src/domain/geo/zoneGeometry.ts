import { EdgeIndex } from './edgeIndex.ts'
import {
  areBoxesApart,
  type Box,
  boxAround,
  distanceMetres,
  isFartherThan,
  isInBox,
} from './geodesy.ts'
import { polygonsOf, type ZoneShape } from './zone.ts'
import { edgesOf, findBorder } from './zoneBorder.ts'
import { enclosesNorthPole, type UnwrappedRing, unwrapRing } from './zoneRing.ts'

/*
 * Whether a place is in a zone, and how far from its border. Packages that do this are wrong at the
 * antimeridian or at the poles. Edges are straight in longitude and latitude, as GeoJSON has them.
 */

export interface CompiledRing {
  edges: EdgeIndex
  enclosesNorth: boolean
}

interface CompiledPolygon {
  box: Box
  exterior: CompiledRing
  holes: CompiledRing[]
  border: EdgeIndex
}

export type CompiledShape =
  | { type: 'circle'; latitude: number; longitude: number; radius: number; box: Box }
  | { type: 'polygons'; polygons: CompiledPolygon[] }

export const compileRing = (ring: UnwrappedRing): CompiledRing => ({
  edges: new EdgeIndex(edgesOf(ring)),
  enclosesNorth: enclosesNorthPole(ring),
})

const boxOf = (ring: UnwrappedRing): Box => {
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
    if (enclosesNorthPole(ring)) north = 90
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
      const [first] = rings
      const [exterior, ...holes] = rings.map(compileRing)
      if (!first || !exterior) return []
      return [{ box: boxOf(first), exterior, holes, border: new EdgeIndex(borders[index] ?? []) }]
    }),
  }
}

/**
 * Whether a place is inside: an odd number of edges lies between it and the north pole along its
 * meridian, or an even one when the ring encloses that pole.
 */
export const isInRing = (
  { edges, enclosesNorth }: CompiledRing,
  latitude: number,
  longitude: number,
): boolean => edges.isOddNorthOf(latitude, longitude) !== enclosesNorth

const isInPolygon = (
  { box, exterior, holes }: CompiledPolygon,
  latitude: number,
  longitude: number,
): boolean =>
  isInBox(box, latitude, longitude) &&
  isInRing(exterior, latitude, longitude) &&
  !holes.some((hole) => isInRing(hole, latitude, longitude))

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
    nearest = Math.min(nearest, border.distanceTo(latitude, longitude, Math.min(limit, nearest)))
  }
  return nearest > limit ? Number.POSITIVE_INFINITY : nearest
}

const RADIANS = Math.PI / 180

/** How large the boxes around a shape are together, in a unit of its own: to compare shapes. */
export const boxSize = (shape: CompiledShape): number =>
  (shape.type === 'circle' ? [shape] : shape.polygons).reduce(
    (sum, { box: { south, north, width } }) =>
      sum + width * (Math.sin(north * RADIANS) - Math.sin(south * RADIANS)),
    0,
  )

/** Whether the zone and all places of a box are farther apart than this. */
export const isShapeApart = (shape: CompiledShape, places: Box, metres: number): boolean =>
  shape.type === 'circle'
    ? areBoxesApart(places, shape.box, metres)
    : shape.polygons.every(({ box }) => areBoxesApart(places, box, metres))

/** The indexes of all edges of a shape. */
const indexesOf = (shape: CompiledShape): EdgeIndex[] =>
  shape.type === 'circle'
    ? []
    : shape.polygons.flatMap(({ exterior, holes, border }) => [
        exterior.edges,
        ...holes.map(({ edges }) => edges),
        border,
      ])

/** An estimate of the memory that a compiled shape takes. */
export const compiledBytes = (shape: CompiledShape): number =>
  indexesOf(shape).reduce((sum, { bytes }) => sum + bytes, 200)
