import { EdgeIndex } from './edgeIndex.ts'
import type { LinearRing, ZoneShape } from './zone.ts'
import { type Edge, edgesOf, findBorder } from './zoneBorder.ts'
import { type CompiledRing, compileRing, isInRing } from './zoneGeometry.ts'
import { isFlat, type UnwrappedRing, unwrapRing } from './zoneRing.ts'

/* Whether the rings of a shape are closed and cross neither themselves nor each other. */

export interface ShapeFault {
  /** Into the shape, such as `['coordinates', 0, 3]`. */
  path: (string | number)[]
  detail: string
}

/** A ring has at least three positions and repeats the first. */
export const MIN_POSITIONS = 4

/** On which side of the edge's line a point is, as a sign; 0 on the line, but for rounding. */
const sideOf = ({ x1, y1, x2, y2 }: Edge, x: number, y: number): number => {
  const left = (x2 - x1) * (y - y1)
  const right = (y2 - y1) * (x - x1)
  const difference = left - right
  return Math.abs(difference) <= 1e-14 * (Math.abs(left) + Math.abs(right))
    ? 0
    : Math.sign(difference)
}

const isInBoxOf = ({ x1, y1, x2, y2 }: Edge, x: number, y: number): boolean =>
  Math.min(x1, x2) <= x && x <= Math.max(x1, x2) && Math.min(y1, y2) <= y && y <= Math.max(y1, y2)

type Contact = 'none' | 'touch' | 'cross'

const contactOf = (a: Edge, b: Edge): Contact => {
  const [start, end] = [sideOf(a, b.x1, b.y1), sideOf(a, b.x2, b.y2)]
  if (start * end > 0) return 'none'
  const [otherStart, otherEnd] = [sideOf(b, a.x1, a.y1), sideOf(b, a.x2, a.y2)]
  if (start * end < 0 && otherStart * otherEnd < 0) return 'cross'
  const touches =
    (start === 0 && isInBoxOf(a, b.x1, b.y1)) ||
    (end === 0 && isInBoxOf(a, b.x2, b.y2)) ||
    (otherStart === 0 && isInBoxOf(b, a.x1, a.y1)) ||
    (otherEnd === 0 && isInBoxOf(b, a.x2, a.y2))
  return touches ? 'touch' : 'none'
}

const isLong = ({ x1, x2 }: Edge): boolean => Math.abs(x2 - x1) > 90

/** Compares the edges in the same turn of longitudes, long ones also in the turns beside it. */
const meet = (first: Edge, second: Edge): Contact => {
  const nearest = Math.round((first.x1 + first.x2 - second.x1 - second.x2) / 720)
  const around = isLong(first) || isLong(second) ? 1 : 0
  let contact: Contact = 'none'
  for (let turns = nearest - around; turns <= nearest + around; turns++) {
    const [x1, x2] = [second.x1 + 360 * turns, second.x2 + 360 * turns]
    if (Math.min(first.x1, first.x2) > Math.max(x1, x2)) continue
    if (Math.max(first.x1, first.x2) < Math.min(x1, x2)) continue
    const found = contactOf(first, { x1, y1: second.y1, x2, y2: second.y2 })
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
  return sideOf({ x1: 0, y1: 0, x2: ax, y2: ay }, bx, by) === 0 && ax * bx + ay * by < 0
}

const endsAtPole = ({ y1, y2 }: Edge): boolean => Math.abs(y1) === 90 || Math.abs(y2) === 90
/** A pole is one place with any longitude, so edges that end there may meet. */
const areAtPole = (first: Edge, second: Edge): boolean => endsAtPole(first) && endsAtPole(second)

const crossesItself = (edges: Edge[]): boolean => {
  const index = new EdgeIndex(edges)
  return edges.some((first, i) =>
    index.someNear(first, i + 1, (second, j) => {
      if (j === i + 1) return isSpike(first, second)
      if (i === 0 && j === edges.length - 1) return isSpike(second, first)
      const contact = meet(first, second)
      return contact === 'cross' || (contact === 'touch' && !areAtPole(first, second))
    }),
  )
}

/** A ring's edges without the cut of one that goes around the earth. */
const borderOf = (ring: UnwrappedRing): Edge[] => findBorder([[ring]]).flat()

/** The first list of edges that crosses one before it; -1 when there is none. */
const findCrossing = (lists: Edge[][]): number => {
  if (lists.length < 2) return -1
  const owners = lists.flatMap((edges, owner) => edges.map(() => owner))
  const index = new EdgeIndex(lists.flat())
  return lists.findIndex((edges, owner) =>
    edges.some((edge) =>
      index.someNear(
        edge,
        0,
        (other, at) => (owners[at] as number) < owner && meet(edge, other) === 'cross',
      ),
    ),
  )
}

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

const isHoleOutside = (exterior: CompiledRing, hole: UnwrappedRing): boolean =>
  !hole.latitudes.some((latitude, index) =>
    isInRing(exterior, latitude, hole.longitudes[index] as number),
  )

const findPolygonFault = (rings: LinearRing[]): ShapeFault | null => {
  if (rings.length === 0) return { path: [], detail: 'must have at least one ring' }
  for (const [index, ring] of rings.entries()) {
    const detail = findRingFault(ring)
    if (detail) return { path: [index], detail }
  }
  const unwrapped = rings.map(unwrapRing)
  const crossing = findCrossing(unwrapped.map(borderOf))
  if (crossing !== -1)
    return { path: [crossing], detail: 'must not cross another ring of the polygon' }
  const [first, ...holes] = unwrapped
  const exterior = first && compileRing(first)
  const outside = holes.findIndex((hole) => exterior && isHoleOutside(exterior, hole))
  return outside === -1
    ? null
    : { path: [outside + 1], detail: 'must be inside the first ring of the polygon' }
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
  const crossing = findCrossing(edges)
  return crossing === -1
    ? null
    : { path: ['coordinates', crossing], detail: 'must not cross another polygon' }
}
