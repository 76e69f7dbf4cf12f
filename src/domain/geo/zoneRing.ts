import type { LinearRing } from './zone.ts'

/*
 * Rings in unwrapped longitudes: each position is beside the one before it, so a ring that crosses
 * the antimeridian goes on beyond 180, and one around a pole ends 360 degrees from its beginning.
 */

export interface UnwrappedRing {
  /** One more than edges; the last is the first, 360 degrees away when the ring goes round a pole. */
  longitudes: Float64Array
  latitudes: Float64Array
  /** Whole turns around the poles, eastward positive. */
  turns: number
}

/** The way from one longitude to the next: the shorter one. */
const stepOf = (from: number, to: number, isFullTurn: boolean): number => {
  const step = to - from
  if (Math.abs(step) === 360 && isFullTurn) return step
  return Math.abs(step) > 180 ? step - 360 * Math.round(step / 360) : step
}

const unwrapWith = (ring: LinearRing, isFullTurn: boolean): UnwrappedRing => {
  const longitudes: number[] = []
  const latitudes: number[] = []
  let longitude = 0
  for (const [index, [x, y]] of ring.entries()) {
    const before = ring[index - 1]
    longitude = before ? longitude + stepOf(before[0], x, isFullTurn) : x
    // A repeated position is no edge.
    if (before && longitude === longitudes.at(-1) && y === latitudes.at(-1)) continue
    longitudes.push(longitude)
    latitudes.push(y)
  }
  const width = (longitudes.at(-1) ?? 0) - (longitudes[0] ?? 0)
  return {
    longitudes: Float64Array.from(longitudes),
    latitudes: Float64Array.from(latitudes),
    turns: Math.round(width / 360),
  }
}

/** Twice the area in square degrees. */
const areaOf = ({ longitudes, latitudes }: UnwrappedRing): number => {
  let area = 0
  for (let i = 1; i < longitudes.length; i++) {
    const [x1, y1] = [longitudes[i - 1] as number, latitudes[i - 1] as number]
    area += x1 * (latitudes[i] as number) - (longitudes[i] as number) * y1
  }
  return area
}

/** True for a ring that encloses nothing. One around a pole always encloses that. */
export const isFlat = (ring: UnwrappedRing): boolean =>
  ring.turns === 0 && Math.abs(areaOf(ring)) < 1e-12

/**
 * An edge from -180 to 180 is no way at all, as where a ring is cut at the antimeridian, unless the
 * ring would then enclose nothing: a box around the world is meant.
 */
export const unwrapRing = (ring: LinearRing): UnwrappedRing => {
  const unwrapped = unwrapWith(ring, false)
  return isFlat(unwrapped) ? unwrapWith(ring, true) : unwrapped
}

/** A ring around the earth encloses the pole that it is nearer to. */
export const enclosesNorthPole = ({ latitudes, turns }: UnwrappedRing): boolean =>
  turns !== 0 && latitudes.reduce((sum, latitude) => sum + latitude, 0) >= 0
