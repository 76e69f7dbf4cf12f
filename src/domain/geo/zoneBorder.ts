import { distanceMetres, isFartherThan } from './geodesy.ts'
import type { UnwrappedRing } from './zoneRing.ts'

/** A straight edge in unwrapped longitudes. */
export interface Edge {
  x1: number
  y1: number
  x2: number
  y2: number
}

const isMeridional = ({ x1, x2 }: Edge): boolean => x1 === x2
/** An edge along the latitude of a pole is one point, where its neighbours end. */
const isPolar = ({ y1, y2 }: Edge): boolean => Math.abs(y1) === 90 && y1 === y2

export const edgesOf = ({ longitudes, latitudes }: UnwrappedRing): Edge[] =>
  Array.from({ length: longitudes.length - 1 }, (_, i) => ({
    x1: longitudes[i] as number,
    y1: latitudes[i] as number,
    x2: longitudes[i + 1] as number,
    y2: latitudes[i + 1] as number,
  }))

const meridianOf = ({ x1 }: Edge): number => ((x1 % 360) + 360) % 360

/**
 * The parts of edges on one meridian that an odd number of them covers. Where two lie on each
 * other, the zone is on both sides: it was cut there, as GeoJSON wants at the antimeridian.
 */
const uncovered = (edge: Edge, onMeridian: Edge[]): Edge[] => {
  const [low, high] = [Math.min(edge.y1, edge.y2), Math.max(edge.y1, edge.y2)]
  const stops = new Set([low, high])
  for (const { y1, y2 } of onMeridian)
    for (const y of [y1, y2]) if (y > low && y < high) stops.add(y)
  const sorted = [...stops].sort((a, b) => a - b)
  return sorted.slice(1).flatMap((end, index) => {
    const start = sorted[index] as number
    const middle = (start + end) / 2
    const covering = onMeridian.filter(
      ({ y1, y2 }) => Math.min(y1, y2) < middle && middle < Math.max(y1, y2),
    )
    return covering.length % 2 === 0 ? [] : [{ x1: edge.x1, y1: start, x2: edge.x1, y2: end }]
  })
}

/** The border of each polygon of a zone, without edges where the zone goes on behind them. */
export const findBorder = (polygons: UnwrappedRing[][]): Edge[][] => {
  const edges = polygons.map((rings) => rings.flatMap(edgesOf).filter((edge) => !isPolar(edge)))
  const byMeridian = Map.groupBy(edges.flat().filter(isMeridional), meridianOf)
  return edges.map((list) =>
    list.flatMap((edge) => {
      const others = isMeridional(edge) ? byMeridian.get(meridianOf(edge)) : undefined
      return others && others.length > 1 ? uncovered(edge, others) : [edge]
    }),
  )
}

const MAX_PIECE_DEGREES = 5
/** Shorter edges in moderate latitudes are straight enough for a plane. */
const MAX_PLANE_DEGREES = 1
const MAX_PLANE_LATITUDE = 75
const SEARCH_STEPS = 40
const GOLDEN = (Math.sqrt(5) - 1) / 2

/** Where along the edge it is nearest to a place, in the plane that touches the earth there. */
const nearestInPlane = ({ x1, y1, x2, y2 }: Edge, latitude: number, longitude: number): number => {
  const scale = Math.cos((latitude * Math.PI) / 180)
  const [alongX, alongY] = [(x2 - x1) * scale, y2 - y1]
  const [toX, toY] = [(longitude - x1) * scale, latitude - y1]
  const length = alongX * alongX + alongY * alongY
  return length === 0 ? 0 : Math.max(0, Math.min(1, (toX * alongX + toY * alongY) / length))
}

const searchNearest = (at: (part: number) => number): number => {
  let [from, to] = [0, 1]
  let [left, right] = [1 - GOLDEN, GOLDEN]
  let [atLeft, atRight] = [at(left), at(right)]
  for (let step = 0; step < SEARCH_STEPS; step++) {
    if (atLeft < atRight) {
      ;[to, right, atRight] = [right, left, atLeft]
      left = to - GOLDEN * (to - from)
      atLeft = at(left)
    } else {
      ;[from, left, atLeft] = [left, right, atRight]
      right = from + GOLDEN * (to - from)
      atRight = at(right)
    }
  }
  return Math.min(at(0), at(1), atLeft, atRight)
}

const pieceDistance = (edge: Edge, latitude: number, longitude: number): number => {
  const { x1, y1, x2, y2 } = edge
  const at = (part: number) =>
    distanceMetres(latitude, longitude, y1 + (y2 - y1) * part, x1 + (x2 - x1) * part)
  const isShort = Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1)) <= MAX_PLANE_DEGREES
  if (!isShort || Math.abs(latitude) > MAX_PLANE_LATITUDE) return searchNearest(at)
  const near = longitude + 360 * Math.round((x1 - longitude) / 360)
  return at(nearestInPlane(edge, latitude, near))
}

const isPieceFarther = (
  { x1, y1, x2, y2 }: Edge,
  latitude: number,
  longitude: number,
  metres: number,
): boolean =>
  isFartherThan(
    {
      south: Math.min(y1, y2),
      north: Math.max(y1, y2),
      west: Math.min(x1, x2),
      width: Math.abs(x2 - x1),
    },
    latitude,
    longitude,
    metres,
  )

/** Metres to the nearest point of an edge, or Infinity when it is surely farther than `limit`. */
export const edgeDistance = (
  edge: Edge,
  latitude: number,
  longitude: number,
  limit: number,
): number => {
  if (isPieceFarther(edge, latitude, longitude, limit)) return Number.POSITIVE_INFINITY
  const { x1, y1, x2, y2 } = edge
  const pieces = Math.ceil(Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1)) / MAX_PIECE_DEGREES)
  if (pieces <= 1) return pieceDistance(edge, latitude, longitude)
  let nearest = Number.POSITIVE_INFINITY
  for (let i = 0; i < pieces; i++) {
    const [from, to] = [i / pieces, (i + 1) / pieces]
    const piece = {
      x1: x1 + (x2 - x1) * from,
      y1: y1 + (y2 - y1) * from,
      x2: x1 + (x2 - x1) * to,
      y2: y1 + (y2 - y1) * to,
    }
    if (!isPieceFarther(piece, latitude, longitude, Math.min(limit, nearest)))
      nearest = Math.min(nearest, pieceDistance(piece, latitude, longitude))
  }
  return nearest
}
