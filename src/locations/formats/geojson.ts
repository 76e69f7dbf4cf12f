import type { StoredLocation } from '../../domain/location.ts'
import { iso } from '../../http/wire.ts'
import { presentLocation } from '../present.ts'
import { separator, type Track, type Writer } from './formats.ts'

type Position = [longitude: number, latitude: number, altitude?: number]

const begin = ({ deviceName }: Track): string => `{"type":"FeatureCollection","name":${JSON.stringify(deviceName)},"features":[`

const positionOf = ({ longitude, latitude, altitude }: StoredLocation): Position =>
  altitude === undefined ? [longitude, latitude] : [longitude, latitude, altitude]

const point = (stored: StoredLocation): string => {
  const { latitude, longitude, ...properties } = presentLocation(stored)
  return JSON.stringify({ type: 'Feature', geometry: { type: 'Point', coordinates: positionOf(stored) }, properties })
}

/** A point for each location, with all that it has. */
export const geojsonPoints = (track: Track): Writer => {
  const comma = separator(',')
  return { begin: begin(track), page: (locations) => locations.map((stored) => comma() + point(stored)).join(''), end: () => ']}' }
}

/** Where the way from one position to the next, the short way round, meets the antimeridian; null where it does not. */
const crossing = (from: Position, to: Position): { leaving: Position; entering: Position } | null => {
  const east = to[0] - from[0]
  if (Math.abs(east) <= 180) return null
  const edge = east < 0 ? 180 : -180
  const part = (edge - from[0]) / (east + 2 * edge)
  const between = (a: number, b: number) => a + part * (b - a)
  const rest: [number, number?] =
    from[2] === undefined || to[2] === undefined ? [between(from[1], to[1])] : [between(from[1], to[1]), between(from[2], to[2])]
  return { leaving: [edge, ...rest], entering: [-edge, ...rest] }
}

/** Lines through the locations. RFC 7946 wants a line cut at the antimeridian: each side is a feature of its own. */
export const geojsonLine = (track: Track): Writer => {
  const comma = separator(',')
  let last: StoredLocation | null = null
  let lineBegan: number | null = null
  const open = (at: number, position: Position) => {
    lineBegan = at
    return `${comma()}{"type":"Feature","geometry":{"type":"LineString","coordinates":[${JSON.stringify(position)}`
  }
  const close = (began: number, ended: number) => `]},"properties":${JSON.stringify({ from: iso(began), to: iso(ended) })}}`
  const next = (stored: StoredLocation): string => {
    const before = last
    last = stored
    if (before === null) return ''
    let text = lineBegan === null ? open(before.dateTime, positionOf(before)) : ''
    const crossed = crossing(positionOf(before), positionOf(stored))
    if (crossed) {
      text += `,${JSON.stringify(crossed.leaving)}${close(lineBegan ?? before.dateTime, stored.dateTime)}`
      text += open(before.dateTime, crossed.entering)
    }
    return `${text},${JSON.stringify(positionOf(stored))}`
  }
  const end = (): string => {
    if (last === null) return ']}'
    return lineBegan === null ? `${point(last)}]}` : `${close(lineBegan, last.dateTime)}]}`
  }
  return { begin: begin(track), page: (locations) => locations.map(next).join(''), end }
}
