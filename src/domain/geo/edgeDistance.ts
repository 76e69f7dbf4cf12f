import { distanceMetres, isFartherThan } from './geodesy.ts'
import type { Edge } from './zoneBorder.ts'

/* Metres from a place to an edge, which is straight in longitude and latitude. */

/**
 * What looking at edges and their boxes has cost, in units of about a microsecond. Callers compare it
 * before and after: only a count shows how long a computation takes.
 */
export const edgeWork = { units: 0 }

/** Of a distance, and of the check that an edge may be near enough. */
const DISTANCE_UNITS = 0.2
/** Shorter pieces are straight enough for a plane. */
const MAX_PIECE_DEGREES = 1
/** Beyond this latitude the plane is the one that touches the earth at the pole. */
const MAX_PLANE_LATITUDE = 75
const RADIANS = Math.PI / 180

type Vector = [x: number, y: number]

/** How a plane shows a place, given the place in its middle. */
const project = (latitude: number, longitude: number, middle: number): Vector => {
  if (Math.abs(middle) <= MAX_PLANE_LATITUDE)
    return [longitude * Math.cos(middle * RADIANS), latitude]
  const fromPole = 90 - latitude * Math.sign(middle)
  const angle = longitude * RADIANS
  return [fromPole * Math.cos(angle), fromPole * Math.sin(angle)]
}

/** Where along the edge it is nearest to a place, from 0 to 1. */
const nearestPart = ({ x1, y1, x2, y2 }: Edge, latitude: number, longitude: number): number => {
  const near = longitude + 360 * Math.round((x1 - longitude) / 360)
  const [px, py] = project(latitude, near, latitude)
  const [fromX, fromY] = project(y1, x1, latitude)
  const [toX, toY] = project(y2, x2, latitude)
  const [alongX, alongY] = [toX - fromX, toY - fromY]
  const length = alongX * alongX + alongY * alongY
  if (length === 0) return 0
  const part = ((px - fromX) * alongX + (py - fromY) * alongY) / length
  return Math.max(0, Math.min(1, part))
}

const isEdgeFarther = (
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

/**
 * Metres to the nearest point of an edge, or Infinity when it is surely farther than `limit`. A long
 * edge is halved until its pieces are short or too far away.
 */
export const edgeDistance = (
  edge: Edge,
  latitude: number,
  longitude: number,
  limit: number,
): number => {
  edgeWork.units += DISTANCE_UNITS
  if (isEdgeFarther(edge, latitude, longitude, limit)) return Number.POSITIVE_INFINITY
  const { x1, y1, x2, y2 } = edge
  const part = nearestPart(edge, latitude, longitude)
  if (Math.max(Math.abs(x2 - x1), Math.abs(y2 - y1)) <= MAX_PIECE_DEGREES)
    return distanceMetres(latitude, longitude, y1 + (y2 - y1) * part, x1 + (x2 - x1) * part)
  const [x, y] = [(x1 + x2) / 2, (y1 + y2) / 2]
  const halves: [Edge, Edge] = [
    { x1, y1, x2: x, y2: y },
    { x1: x, y1: y, x2, y2 },
  ]
  const [first, second] = part <= 0.5 ? halves : [halves[1], halves[0]]
  const nearest = edgeDistance(first, latitude, longitude, limit)
  return Math.min(nearest, edgeDistance(second, latitude, longitude, Math.min(limit, nearest)))
}
