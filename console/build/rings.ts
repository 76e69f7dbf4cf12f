/* Rings of longitudes and latitudes on a map that repeats itself every 360°. */

export type Position = number[]
export type Ring = Position[]
export type Polygon = Ring[]

/**
 * Continues a line beyond ±180° instead of jumping to the other edge of the map. Without this a
 * polygon that crosses the antimeridian fills the sea between its parts.
 */
export const unwrap = (line: Position[]): Position[] => {
  let shift = 0
  return line.map(([x = 0, y = 0], at) => {
    const previous = line[at - 1]?.[0] ?? x
    if (x - previous > 180) shift -= 360
    if (x - previous < -180) shift += 360
    return [x + shift, y]
  })
}

/** Whether an unwrapped ring goes around a pole: it then ends a whole turn from where it began. */
const isAroundPole = (ring: Ring): boolean =>
  Math.abs((ring.at(-1)?.[0] ?? 0) - (ring[0]?.[0] ?? 0)) > 180

/** A ring around a pole does not close when unwrapped; it is closed along the pole. */
const closeAtPole = (ring: Ring): Ring => {
  const [first, last] = [ring[0], ring.at(-1)]
  if (!first || !last || !isAroundPole(ring)) return ring
  const pole = (first[1] ?? 0) < 0 ? -90 : 90
  return [...ring, [last[0] ?? 0, pole], [first[0] ?? 0, pole], first]
}

export const boundsOf = (ring: Ring) => {
  const xs = ring.map(([x = 0]) => x)
  const ys = ring.map(([, y = 0]) => y)
  return {
    west: Math.min(...xs),
    east: Math.max(...xs),
    south: Math.min(...ys),
    north: Math.max(...ys),
  }
}

/** Brings a hole to the same copy of the world as the ring around it. */
const alignHole = (hole: Ring, outer: Ring): Ring => {
  const { west, east } = boundsOf(outer)
  const x = hole[0]?.[0] ?? 0
  const shift = x < west ? 360 : x > east ? -360 : 0
  return hole.map(([x = 0, y = 0]) => [x + shift, y])
}

export const unwrapPolygon = (polygon: Polygon): Polygon => {
  const [outer = [], ...holes] = polygon.map((ring) => closeAtPole(unwrap(ring)))
  return [outer, ...holes.map((hole) => alignHole(hole, outer))]
}

/** The coast of a land that goes around a pole, without the edges that close its area there. */
export const openCoast = (polygon: Polygon): Position[] | null => {
  const coast = unwrap(polygon[0] ?? [])
  return isAroundPole(coast) ? coast : null
}
