/*
 * Douglas–Peucker in metres. Written here because the libraries looked at (simplify-js, and turf, which wraps it) measure in
 * the unit of the plane that they are given, know no antimeridian, and recurse: a zigzag of 50,000 points ends their stack.
 */

const RADIUS = 6_371_008.8
const RADIANS = Math.PI / 180
/** Beyond this the map that we measure on has no room left. */
const MAX_LATITUDE = 89.9
/** A track made to be awkward takes the square of its length. After so many distances ranges are cut in the middle, which only keeps more. */
const MAX_DISTANCES = 50_000_000

/**
 * Which points of a track stay, so that none of the others is farther than `metres` from the line drawn through these.
 * The lines are those of a map (Mercator); a point's distance is taken at the scale that the map has at that point.
 */
export const simplify = (
  latitudes: ArrayLike<number>,
  longitudes: ArrayLike<number>,
  metres: number,
): Uint8Array => {
  const count = latitudes.length
  const keep = new Uint8Array(count)
  if (count === 0) return keep
  const { x, y, scale } = onMap(latitudes, longitudes)
  keep[0] = keep[count - 1] = 1
  const ranges = [0, count - 1]
  let distances = 0
  while (ranges.length > 0) {
    const last = ranges.pop() as number
    const first = ranges.pop() as number
    const farthest = farthestFrom(x, y, scale, first, last, metres * metres)
    distances += last - first
    if (farthest === -1) continue
    const cut = distances > MAX_DISTANCES ? (first + last) >> 1 : farthest
    keep[cut] = 1
    ranges.push(first, cut, cut, last)
  }
  return keep
}

/** Longitudes go on beyond 180 where the track crosses the antimeridian, so that neighbours stay neighbours. */
const onMap = (latitudes: ArrayLike<number>, longitudes: ArrayLike<number>) => {
  const x = new Float64Array(latitudes.length)
  const y = new Float64Array(latitudes.length)
  const scale = new Float64Array(latitudes.length)
  let turns = 0
  for (let i = 0; i < x.length; i++) {
    const latitude =
      Math.max(-MAX_LATITUDE, Math.min(MAX_LATITUDE, latitudes[i] as number)) * RADIANS
    const longitude = longitudes[i] as number
    if (i > 0) turns -= Math.round((longitude - (longitudes[i - 1] as number)) / 360)
    x[i] = RADIUS * (longitude + 360 * turns) * RADIANS
    y[i] = RADIUS * Math.asinh(Math.tan(latitude))
    scale[i] = Math.cos(latitude)
  }
  return { x, y, scale }
}

/** The point between `first` and `last` that is farthest from the line between them, or -1 where none is far enough. */
const farthestFrom = (
  x: Float64Array,
  y: Float64Array,
  scale: Float64Array,
  first: number,
  last: number,
  enough: number,
): number => {
  const startX = x[first] as number
  const startY = y[first] as number
  const alongX = (x[last] as number) - startX
  const alongY = (y[last] as number) - startY
  const length = alongX * alongX + alongY * alongY
  let farthest = -1
  let most = enough
  for (let i = first + 1; i < last; i++) {
    const toX = (x[i] as number) - startX
    const toY = (y[i] as number) - startY
    const part = length === 0 ? 0 : Math.max(0, Math.min(1, (toX * alongX + toY * alongY) / length))
    const offX = (toX - part * alongX) * (scale[i] as number)
    const offY = (toY - part * alongY) * (scale[i] as number)
    const distance = offX * offX + offY * offY
    if (distance > most) {
      most = distance
      farthest = i
    }
  }
  return farthest
}
