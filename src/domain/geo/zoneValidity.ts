import type { LinearRing, ZoneShape } from './zone.ts'
import { type Edge, edgesOf, findBorder } from './zoneBorder.ts'
import { enclosesNorthPole, isFlat, isInRing, type UnwrappedRing, unwrapRing } from './zoneRing.ts'

/* Whether the rings of a shape are closed and cross neither themselves nor each other. */

export interface ShapeFault {
  /** Into the shape, such as `['coordinates', 0, 3]`. */
  path: (string | number)[]
  detail: string
}

const MIN_POSITIONS = 4

type Point = [x: number, y: number]
type Ends = [Point, Point]

/** The sign of the turn a → b → c; 0 when they are on one line, but for rounding. */
const turn = (a: Point, b: Point, c: Point): number => {
  const left = (b[0] - a[0]) * (c[1] - a[1])
  const right = (b[1] - a[1]) * (c[0] - a[0])
  const difference = left - right
  return Math.abs(difference) <= 1e-14 * (Math.abs(left) + Math.abs(right))
    ? 0
    : Math.sign(difference)
}

const isBetween = (a: Point, b: Point, c: Point): boolean =>
  Math.min(a[0], b[0]) <= c[0] &&
  c[0] <= Math.max(a[0], b[0]) &&
  Math.min(a[1], b[1]) <= c[1] &&
  c[1] <= Math.max(a[1], b[1])

type Contact = 'none' | 'touch' | 'cross'

const endsOf = ({ x1, y1, x2, y2 }: Edge): Ends => [
  [x1, y1],
  [x2, y2],
]

const contactOf = (first: Edge, second: Edge): Contact => {
  const [a, b] = endsOf(first)
  const [c, d] = endsOf(second)
  const [c1, c2, c3, c4] = [turn(a, b, c), turn(a, b, d), turn(c, d, a), turn(c, d, b)]
  if (c1 * c2 < 0 && c3 * c4 < 0) return 'cross'
  const touches =
    (c1 === 0 && isBetween(a, b, c)) ||
    (c2 === 0 && isBetween(a, b, d)) ||
    (c3 === 0 && isBetween(c, d, a)) ||
    (c4 === 0 && isBetween(c, d, b))
  return touches ? 'touch' : 'none'
}

const isLong = ({ x1, x2 }: Edge): boolean => Math.abs(x2 - x1) > 90

/** Compares the edges in the same turn of longitudes, long ones also in the turns beside it. */
const meet = (first: Edge, second: Edge): Contact => {
  const nearest = Math.round((first.x1 + first.x2 - second.x1 - second.x2) / 720)
  const around = isLong(first) || isLong(second) ? [nearest - 1, nearest, nearest + 1] : [nearest]
  let contact: Contact = 'none'
  for (const turns of around) {
    const [x1, x2] = [second.x1 + 360 * turns, second.x2 + 360 * turns]
    if (Math.min(first.x1, first.x2) > Math.max(x1, x2)) continue
    if (Math.max(first.x1, first.x2) < Math.min(x1, x2)) continue
    const found = contactOf(first, { ...second, x1, x2 })
    if (found === 'cross') return found
    // A ring around the earth meets itself where it was cut.
    if (found === 'touch' && turns === 0) contact = found
  }
  return contact
}

/** True when the second of two adjacent edges goes back over the first. */
const isSpike = (first: Edge, second: Edge): boolean => {
  const [ax, ay, bx, by] = [
    first.x2 - first.x1,
    first.y2 - first.y1,
    second.x2 - second.x1,
    second.y2 - second.y1,
  ]
  return turn([0, 0], [ax, ay], [bx, by]) === 0 && ax * bx + ay * by < 0
}

const endsAtPole = ({ y1, y2 }: Edge): boolean => Math.abs(y1) === 90 || Math.abs(y2) === 90
/** A pole is one place with any longitude, so edges that end there may meet. */
const areAtPole = (first: Edge, second: Edge): boolean => endsAtPole(first) && endsAtPole(second)

const crossesItself = (edges: Edge[]): boolean => {
  for (let i = 0; i < edges.length; i++) {
    const first = edges[i] as Edge
    for (let j = i + 1; j < edges.length; j++) {
      const second = edges[j] as Edge
      if (Math.min(first.y1, first.y2) > Math.max(second.y1, second.y2)) continue
      if (Math.max(first.y1, first.y2) < Math.min(second.y1, second.y2)) continue
      const isNext = j === i + 1
      const isLast = i === 0 && j === edges.length - 1
      if (isNext || isLast) {
        if (isNext ? isSpike(first, second) : isSpike(second, first)) return true
        continue
      }
      const contact = meet(first, second)
      if (contact === 'cross' || (contact === 'touch' && !areAtPole(first, second))) return true
    }
  }
  return false
}

/** A ring's edges without the cut of one that goes around the earth. */
const borderOf = (ring: UnwrappedRing): Edge[] => findBorder([[ring]]).flat()

const cross = (first: Edge[], second: Edge[]): boolean =>
  first.some((one) => second.some((other) => meet(one, other) === 'cross'))

const CLOSED = 'must be closed: its last position must be the same as its first'

const findRingFault = (ring: LinearRing): string | null => {
  if (ring.length < MIN_POSITIONS) return `must have at least ${MIN_POSITIONS} positions`
  const [first, last] = [ring[0], ring.at(-1)]
  if (first?.[0] !== last?.[0] || first?.[1] !== last?.[1]) return CLOSED
  const unwrapped = unwrapRing(ring)
  if (Math.abs(unwrapped.turns) > 1) return 'must not go around the earth more than once'
  if (crossesItself(edgesOf(unwrapped))) return 'must not cross or touch itself'
  return isFlat(unwrapped) ? 'must enclose an area' : null
}

const isHoleOutside = (exterior: UnwrappedRing, hole: UnwrappedRing): boolean => {
  const north = enclosesNorthPole(exterior)
  return !hole.latitudes.some((latitude, index) =>
    isInRing(exterior, north, latitude, hole.longitudes[index] as number),
  )
}

const findPolygonFault = (rings: LinearRing[]): ShapeFault | null => {
  if (rings.length === 0) return { path: [], detail: 'must have at least one ring' }
  for (const [index, ring] of rings.entries()) {
    const detail = findRingFault(ring)
    if (detail) return { path: [index], detail }
  }
  const unwrapped = rings.map(unwrapRing)
  const edges = unwrapped.map(borderOf)
  for (const [index, own] of edges.entries()) {
    if (index === 0) continue
    if (edges.slice(0, index).some((other) => cross(own, other)))
      return { path: [index], detail: 'must not cross another ring of the polygon' }
    const [exterior, hole] = [unwrapped[0], unwrapped[index]]
    if (exterior && hole && isHoleOutside(exterior, hole))
      return { path: [index], detail: 'must be inside the first ring of the polygon' }
  }
  return null
}

/** What is wrong with a shape's rings; null when nothing is. */
export const findShapeFault = (shape: ZoneShape): ShapeFault | null => {
  if (shape.type === 'Circle') return null
  if (shape.type === 'Polygon') {
    const fault = findPolygonFault(shape.coordinates)
    return fault && { ...fault, path: ['coordinates', ...fault.path] }
  }
  const polygons = shape.coordinates
  if (polygons.length === 0)
    return { path: ['coordinates'], detail: 'must have at least one polygon' }
  for (const [index, rings] of polygons.entries()) {
    const fault = findPolygonFault(rings)
    if (fault) return { ...fault, path: ['coordinates', index, ...fault.path] }
  }
  const edges = polygons.map((rings) => rings.flatMap((ring) => borderOf(unwrapRing(ring))))
  for (const [index, own] of edges.entries())
    if (edges.slice(0, index).some((other) => cross(own, other)))
      return { path: ['coordinates', index], detail: 'must not cross another polygon' }
  return null
}
