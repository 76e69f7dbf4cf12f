/*
 * Douglas–Peucker in metres. simplify-js and turf, which wraps it, measure in the units of a plane,
 * do not handle the antimeridian, and recurse: a zigzag of 50,000 points overflows their stack.
 */

const EARTH_RADIUS_METRES = 6_371_008.8
const RADIANS_PER_DEGREE = Math.PI / 180
/** Mercator has no finite place for the poles. */
const MAX_LATITUDE = 89.9
/**
 * Bounds the quadratic worst case: beyond, ranges are halved instead, which only keeps more points.
 */
const MAX_DISTANCES = 50_000_000

/** So many are computed in about a microsecond. */
const DISTANCES_PER_UNIT = 100

/**
 * Marks the points to keep, so that no other point is farther than `toleranceMetres` from the line
 * through them. Lines are straight on a Mercator map; a distance is scaled at its own point.
 * Yields what each step took, in microseconds.
 */
export function* simplify(
  latitudes: ArrayLike<number>,
  longitudes: ArrayLike<number>,
  toleranceMetres: number,
): Generator<number, Uint8Array> {
  const count = latitudes.length
  const keep = new Uint8Array(count)
  if (count === 0) return keep
  const points = project(latitudes, longitudes)
  keep[0] = keep[count - 1] = 1
  const ranges = [0, count - 1]
  let distances = 0
  while (ranges.length > 0) {
    const last = ranges.pop() as number
    const first = ranges.pop() as number
    const farthest = findFarthest(points, first, last, toleranceMetres * toleranceMetres)
    distances += last - first
    yield (last - first) / DISTANCES_PER_UNIT
    if (farthest === -1) continue
    const cut = distances > MAX_DISTANCES ? (first + last) >> 1 : farthest
    keep[cut] = 1
    ranges.push(first, cut, cut, last)
  }
  return keep
}

/** Points on a Mercator map, in metres, with the map's scale at each. */
interface Projection {
  x: Float64Array
  y: Float64Array
  scale: Float64Array
}

/**
 * Longitudes continue beyond 180 where the track crosses the antimeridian, so neighbours stay
 * close.
 */
const project = (latitudes: ArrayLike<number>, longitudes: ArrayLike<number>): Projection => {
  const x = new Float64Array(latitudes.length)
  const y = new Float64Array(latitudes.length)
  const scale = new Float64Array(latitudes.length)
  let turns = 0
  for (let i = 0; i < x.length; i++) {
    const latitude =
      Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitudes[i] as number)) * RADIANS_PER_DEGREE
    const longitude = longitudes[i] as number
    if (i > 0) turns -= Math.round((longitude - (longitudes[i - 1] as number)) / 360)
    x[i] = EARTH_RADIUS_METRES * (longitude + 360 * turns) * RADIANS_PER_DEGREE
    y[i] = EARTH_RADIUS_METRES * Math.asinh(Math.tan(latitude))
    scale[i] = Math.cos(latitude)
  }
  return { x, y, scale }
}

/**
 * The point between `first` and `last` farthest from their line, or -1 when all are within the
 * tolerance.
 */
const findFarthest = (
  { x, y, scale }: Projection,
  first: number,
  last: number,
  toleranceSquared: number,
): number => {
  const startX = x[first] as number
  const startY = y[first] as number
  const alongX = (x[last] as number) - startX
  const alongY = (y[last] as number) - startY
  const length = alongX * alongX + alongY * alongY
  let farthest = -1
  let farthestSquared = toleranceSquared
  for (let i = first + 1; i < last; i++) {
    const toX = (x[i] as number) - startX
    const toY = (y[i] as number) - startY
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, (toX * alongX + toY * alongY) / length))
    const offX = (toX - part * alongX) * (scale[i] as number)
    const offY = (toY - part * alongY) * (scale[i] as number)
    const distance = offX * offX + offY * offY
    if (distance > farthestSquared) {
      farthestSquared = distance
      farthest = i
    }
  }
  return farthest
}
