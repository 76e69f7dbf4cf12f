import outline from './land.json' with { type: 'json' }

/* The outline of the land, coarse enough for the Worker to carry. `landOutline.ts` writes it. */

/** A longitude and a latitude in degrees; a ring that crosses the antimeridian continues beyond ±180. */
export type Point = readonly [x: number, y: number]

/** The outline has tenths of a degree. */
export const PER_DEGREE = 10

const decodeRing = (text: string): Point[] => {
  const points: Point[] = []
  const last = [0, 0]
  let [axis, value, shift] = [0, 0, 0]
  for (let at = 0; at < text.length; at++) {
    const bits = text.charCodeAt(at) - 63
    value |= (bits & 31) << shift
    shift += 5
    if (bits & 32) continue
    last[axis] = (last[axis] ?? 0) + (value & 1 ? -(value + 1) / 2 : value / 2)
    if (axis === 1) points.push([(last[0] ?? 0) / PER_DEGREE, (last[1] ?? 0) / PER_DEGREE])
    axis = 1 - axis
    value = 0
    shift = 0
  }
  return points
}

export interface LandRing {
  points: readonly Point[]
  west: number
  east: number
  south: number
  north: number
}

const withBounds = (points: readonly Point[]): LandRing => {
  const xs = points.map(([x]) => x)
  const ys = points.map(([, y]) => y)
  const [west, east] = [Math.min(...xs), Math.max(...xs)]
  return { points, west, east, south: Math.min(...ys), north: Math.max(...ys) }
}

let decoded: LandRing[] | undefined

export const landRings = (): readonly LandRing[] => {
  decoded ??= outline.split(' ').map((ring) => withBounds(decodeRing(ring)))
  return decoded
}
