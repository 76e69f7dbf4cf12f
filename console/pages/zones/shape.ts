import type { CircleShape, MultiPolygonShape, PolygonShape } from '../../api/types.ts'

/* Shapes of zones as a map draws them. Longitudes may go on beyond 180 across the antimeridian. */

export type Position = [longitude: number, latitude: number]
export type Shape = CircleShape | PolygonShape | MultiPolygonShape

const EARTH_METRES = 6_371_008.8
const CIRCLE_STEPS = 120
const MAX_DIGITS = 6

const radians = (degrees: number): number => (degrees * Math.PI) / 180
const degrees = (angle: number): number => (angle * 180) / Math.PI

/** Between -180 and 180. */
export const wrapLongitude = (longitude: number): number =>
  longitude >= -180 && longitude <= 180
    ? longitude
    : ((((longitude + 180) % 360) + 360) % 360) - 180

export const roundCoordinate = (value: number): number => Number(value.toFixed(MAX_DIGITS))

/** As the API keeps it. */
export const toPosition = ({ lng, lat }: { lng: number; lat: number }): Position => [
  roundCoordinate(wrapLongitude(lng)),
  roundCoordinate(Math.max(-90, Math.min(90, lat))),
]

/** Metres between two places on a sphere. */
export const distanceBetween = ([x1, y1]: Position, [x2, y2]: Position): number => {
  const [dx, dy] = [radians(x2 - x1), radians(y2 - y1)]
  const h =
    Math.sin(dy / 2) ** 2 + Math.cos(radians(y1)) * Math.cos(radians(y2)) * Math.sin(dx / 2) ** 2
  return 2 * EARTH_METRES * Math.asin(Math.min(1, Math.sqrt(h)))
}

/** The place at a distance in a direction, its longitude beside that of the start. */
export const placeFrom = ([x, y]: Position, metres: number, bearing: number): Position => {
  const [angle, direction, latitude] = [metres / EARTH_METRES, radians(bearing), radians(y)]
  const sine =
    Math.sin(latitude) * Math.cos(angle) +
    Math.cos(latitude) * Math.sin(angle) * Math.cos(direction)
  const turn = Math.atan2(
    Math.sin(direction) * Math.sin(angle) * Math.cos(latitude),
    Math.cos(angle) - Math.sin(latitude) * sine,
  )
  return [x + degrees(turn), degrees(Math.asin(Math.max(-1, Math.min(1, sine))))]
}

/** Each position beside the one before it: the shorter way around the earth. */
export const unwrap = (ring: readonly (readonly number[])[]): Position[] => {
  let [before, longitude] = [0, 0]
  return ring.map(([x = 0, y = 0], at) => {
    const step = x - before
    longitude =
      at === 0 ? x : longitude + (Math.abs(step) > 180 ? step - 360 * Math.round(step / 360) : step)
    before = x
    return [longitude, y]
  })
}

/** A ring around the earth is closed along the pole that it encloses, which is the map's edge. */
const closeAroundPole = (ring: Position[], isNorth: boolean): Position[] => {
  const [first, last] = [ring[0], ring.at(-1)]
  if (!first || !last || Math.abs(last[0] - first[0]) < 359) return ring
  const edge = isNorth ? 90 : -90
  return [...ring, [last[0], edge], [first[0], edge], first]
}

const isMostlyNorth = (ring: readonly Position[]): boolean =>
  ring.reduce((sum, [, latitude]) => sum + latitude, 0) >= 0

const circleRing = (center: Position, radius: number): Position[] => {
  const places = Array.from({ length: CIRCLE_STEPS + 1 }, (_, at) =>
    placeFrom(center, radius, (at * 360) / CIRCLE_STEPS),
  )
  return closeAroundPole(unwrap(places), center[1] >= 0)
}

/** Moves holes and further polygons beside the first ring. */
const shiftBeside = (ring: Position[], anchor: number): Position[] => {
  const turns = Math.round((anchor - (ring[0]?.[0] ?? anchor)) / 360)
  return turns === 0 ? ring : ring.map(([x, y]) => [x + 360 * turns, y])
}

const polygonRings = (rings: readonly (readonly number[][])[]): Position[][] => {
  const unwrapped = rings.map(unwrap)
  const anchor = unwrapped[0]?.[0]?.[0] ?? 0
  return unwrapped.map((ring) => shiftBeside(closeAroundPole(ring, isMostlyNorth(ring)), anchor))
}

/** Rings of a shape, polygon by polygon, as the map draws them. */
export const drawnPolygons = (shape: Shape): Position[][][] => {
  if (shape.type === 'Circle') return [[circleRing(shape.center as Position, shape.radius)]]
  if (shape.type === 'Polygon') return [polygonRings(shape.coordinates)]
  return shape.coordinates.map(polygonRings)
}

export const zoneFeature = (
  shape: Shape,
  properties: Record<string, unknown>,
): GeoJSON.Feature => ({
  type: 'Feature',
  properties,
  geometry: { type: 'MultiPolygon', coordinates: drawnPolygons(shape) },
})

/** West, south, east and north of a shape as it is drawn. */
export const boundsOf = (shape: Shape): [number, number, number, number] => {
  const places = drawnPolygons(shape).flat(2)
  const [xs, ys] = [places.map(([x]) => x), places.map(([, y]) => y)]
  return [Math.min(...xs), Math.min(...ys), Math.max(...xs), Math.max(...ys)]
}

/** A place for the name of a zone. */
export const middleOf = (shape: Shape): Position => {
  if (shape.type === 'Circle') return shape.center as Position
  const ring = (drawnPolygons(shape)[0]?.[0] ?? []).slice(0, -1)
  const mean = (axis: 0 | 1) => ring.reduce((sum, place) => sum + place[axis], 0) / ring.length
  return ring.length > 0 ? [mean(0), mean(1)] : [0, 0]
}

/** The rings that can be edited, without the repeated last position, as unwrapped positions. */
export const editableRings = (shape: Exclude<Shape, CircleShape>): Position[][] => {
  const polygons = shape.type === 'Polygon' ? [shape.coordinates] : shape.coordinates
  return polygons.flat().map((ring) => unwrap(ring).slice(0, -1))
}

const closeRing = (ring: readonly Position[]): number[][] => {
  const places = ring.map(([x, y]) => [roundCoordinate(wrapLongitude(x)), roundCoordinate(y)])
  return places[0] ? [...places, places[0]] : []
}

/** The shape with one of its rings, counted over all polygons, replaced. */
export const withRing = (
  shape: Exclude<Shape, CircleShape>,
  index: number,
  ring: readonly Position[],
): Exclude<Shape, CircleShape> => {
  let at = 0
  const replace = (rings: number[][][]) =>
    rings.map((one) => (at++ === index ? closeRing(ring) : one))
  return shape.type === 'Polygon'
    ? { ...shape, coordinates: replace(shape.coordinates) }
    : { ...shape, coordinates: shape.coordinates.map(replace) }
}

export const polygonOf = (corners: readonly Position[]): PolygonShape => ({
  type: 'Polygon',
  coordinates: [closeRing(corners)],
})

export const countCorners = (shape: Exclude<Shape, CircleShape>): number =>
  editableRings(shape).reduce((sum, ring) => sum + ring.length, 0)
