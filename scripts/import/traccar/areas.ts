import type { Position, ZoneShape } from '../../../src/domain/geo/zone.ts'

/*
 * The areas of Traccar's geofences: WKT with the latitude first, and circles of its own,
 * `CIRCLE (latitude longitude, radius)`.
 */

const NUMBER = '(-?[\\d.]+(?:[eE][-+]?\\d+)?)'
const CIRCLE = new RegExp(`^CIRCLE ?\\(${NUMBER} ${NUMBER} ?, ?${NUMBER}\\)$`)
const POLYGON = /^POLYGON ?\(\((.+)\)\)$/

const toPosition = (text: string): Position => {
  const [latitude, longitude] = text.trim().split(/\s+/).map(Number)
  return [longitude ?? Number.NaN, latitude ?? Number.NaN]
}

const closed = (ring: Position[]): Position[] => {
  const [first, last] = [ring[0], ring.at(-1)]
  const isClosed = first && last && first[0] === last[0] && first[1] === last[1]
  return isClosed || !first ? ring : [...ring, first]
}

/** Null for an area that zones do not have, such as a line. */
export const areaToShape = (area: string): ZoneShape | null => {
  const text = area.trim()
  const circle = CIRCLE.exec(text)
  if (circle) {
    const [latitude, longitude, radius] = circle.slice(1).map(Number)
    return { type: 'Circle', center: [longitude ?? 0, latitude ?? 0], radius: radius ?? 0 }
  }
  const polygon = POLYGON.exec(text)?.[1]
  if (!polygon) return null
  const rings = polygon.split(/\)\s*,\s*\(/).map((ring) => closed(ring.split(',').map(toPosition)))
  const isValid = rings.every(
    (ring) => ring.length >= 4 && ring.flat().every((value) => Number.isFinite(value)),
  )
  return isValid ? { type: 'Polygon', coordinates: rings } : null
}
