import { iso } from '../../domain/iso.ts'
import type { StoredLocation } from '../../domain/location.ts'
import { presentLocation } from '../present.ts'
import { pieces, separator, type Track, type Writer } from './formats.ts'

type Position = [longitude: number, latitude: number, altitude?: number]

const begin = ({ deviceName }: Track): string =>
  `{"type":"FeatureCollection","name":${JSON.stringify(deviceName)},"features":[`

const positionOf = ({ longitude, latitude, altitude }: StoredLocation): Position =>
  altitude === undefined ? [longitude, latitude] : [longitude, latitude, altitude]

const point = (stored: StoredLocation): string => {
  const { latitude, longitude, ...properties } = presentLocation(stored)
  return JSON.stringify({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: positionOf(stored) },
    properties,
  })
}

/** A point for each location, with all that it has. */
export const geojsonPoints = (track: Track): Writer => {
  const comma = separator(',')
  return {
    begin: begin(track),
    page: (locations) => pieces(locations, (stored) => comma() + point(stored)),
    end: () => ']}',
  }
}

/** Where the way from one position to the next, the short way round, meets the antimeridian; null where it does not. */
const crossing = (
  from: Position,
  to: Position,
): { leaving: Position; entering: Position } | null => {
  const east = to[0] - from[0]
  if (Math.abs(east) <= 180) return null
  const edge = east < 0 ? 180 : -180
  const part = (edge - from[0]) / (east + 2 * edge)
  const between = (a: number, b: number) => a + part * (b - a)
  const rest: [number, number?] =
    from[2] === undefined || to[2] === undefined
      ? [between(from[1], to[1])]
      : [between(from[1], to[1]), between(from[2], to[2])]
  return { leaving: [edge, ...rest], entering: [-edge, ...rest] }
}

/** On the antimeridian itself a position is on the side that the track comes from. */
const sameSide = ([longitude, ...rest]: Position, before: Position | undefined): Position =>
  before && Math.abs(longitude) === 180
    ? [before[0] < 0 ? -180 : 180, ...rest]
    : [longitude, ...rest]

/** Lines through the locations. RFC 7946 wants a line cut at the antimeridian: each side is a feature of its own. */
export const geojsonLine = (track: Track): Writer => {
  const comma = separator(',')
  let last: { stored: StoredLocation; position: Position } | null = null
  let lineBegan: number | null = null
  const open = (at: number, position: Position) => {
    lineBegan = at
    return `${comma()}{"type":"Feature","geometry":{"type":"LineString","coordinates":[${JSON.stringify(position)}`
  }
  const close = (began: number, ended: number) =>
    `]},"properties":${JSON.stringify({ from: iso(began), to: iso(ended) })}}`
  const next = (stored: StoredLocation): string => {
    const before = last
    const position = sameSide(positionOf(stored), before?.position)
    last = { stored, position }
    if (before === null) return ''
    let text = lineBegan === null ? open(before.stored.dateTime, before.position) : ''
    const crossed = crossing(before.position, position)
    if (crossed) {
      text += `,${JSON.stringify(crossed.leaving)}${close(lineBegan ?? before.stored.dateTime, stored.dateTime)}`
      text += open(before.stored.dateTime, crossed.entering)
    }
    return `${text},${JSON.stringify(position)}`
  }
  const end = (): string => {
    if (last === null) return ']}'
    return lineBegan === null
      ? `${point(last.stored)}]}`
      : `${close(lineBegan, last.stored.dateTime)}]}`
  }
  return { begin: begin(track), page: (locations) => pieces(locations, next), end }
}
