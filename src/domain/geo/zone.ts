import type { Resource } from '../account/resource.ts'

/* Zones: areas that rules refer to. */

export type Position = [longitude: number, latitude: number]
/** Closed: the last position repeats the first. */
export type LinearRing = Position[]

export type ZoneShape =
  | { type: 'Circle'; center: Position; radius: number }
  | { type: 'Polygon'; coordinates: LinearRing[] }
  | { type: 'MultiPolygon'; coordinates: LinearRing[][] }

export interface ZoneRecord {
  name: string
  description: string
  color: string
  shape: ZoneShape
}

export type Zone = ZoneRecord & Resource

export const MAX_ZONES = 1000
export const MAX_ZONE_VERTICES = 1000
export const MAX_ACCOUNT_VERTICES = 20_000
/** A zone with fewer positions, such as a circle, counts as so many for each rule that names it. */
export const MIN_RULE_POSITIONS = 40
export const MAX_RADIUS_METRES = 10_000_000
export const DEFAULT_COLOR = '#2563eb'

/** A Polygon counts as a MultiPolygon of one. */
export const polygonsOf = (shape: Exclude<ZoneShape, { type: 'Circle' }>): LinearRing[][] =>
  shape.type === 'Polygon' ? [shape.coordinates] : shape.coordinates

/** How many positions a shape has; the repeated last one of a ring does not count. */
export const countVertices = (shape: ZoneShape): number => {
  if (shape.type === 'Circle') return 1
  let count = 0
  for (const rings of polygonsOf(shape))
    for (const ring of rings) count += Math.max(0, ring.length - 1)
  return count
}
