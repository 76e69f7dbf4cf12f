import { iso } from '../../domain/time/iso.ts'
import type { StoredLocation } from '../../domain/track/location.ts'
import { separator, writeChunks } from '../../http/paging/rowWriter.ts'
import { presentLocation } from '../present.ts'
import type { Track, Writer } from './formats.ts'

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

/** One point for each location, with all its members. */
export const geojsonPoints = (track: Track): Writer => {
  const comma = separator(',')
  return {
    begin: begin(track),
    page: (locations) => writeChunks(locations, (stored) => comma() + point(stored)),
    end: () => ']}',
  }
}

/** Where the shorter way between two positions crosses the antimeridian; null when it does not. */
const findCrossing = (
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

/** A position on the antimeridian itself is put on the side that the track comes from. */
const toSameSide = ([longitude, ...rest]: Position, before: Position | undefined): Position =>
  before && Math.abs(longitude) === 180
    ? [before[0] < 0 ? -180 : 180, ...rest]
    : [longitude, ...rest]

/** Lines through the locations, one feature for each side of the antimeridian (RFC 7946). */
export const geojsonLine = (track: Track): Writer => {
  const comma = separator(',')
  let last: { stored: StoredLocation; position: Position } | null = null
  let lineStart: number | null = null
  const open = (at: number, position: Position) => {
    lineStart = at
    return `${comma()}{"type":"Feature","geometry":{"type":"LineString","coordinates":[${JSON.stringify(position)}`
  }
  const close = (from: number, to: number) =>
    `]},"properties":${JSON.stringify({ from: iso(from), to: iso(to) })}}`
  const next = (stored: StoredLocation): string => {
    const before = last
    const position = toSameSide(positionOf(stored), before?.position)
    last = { stored, position }
    if (before === null) return ''
    let text = lineStart === null ? open(before.stored.dateTime, before.position) : ''
    const crossed = findCrossing(before.position, position)
    if (crossed) {
      text += `,${JSON.stringify(crossed.leaving)}${close(lineStart ?? before.stored.dateTime, stored.dateTime)}`
      text += open(before.stored.dateTime, crossed.entering)
    }
    return `${text},${JSON.stringify(position)}`
  }
  const end = (): string => {
    if (last === null) return ']}'
    return lineStart === null
      ? `${point(last.stored)}]}`
      : `${close(lineStart, last.stored.dateTime)}]}`
  }
  return { begin: begin(track), page: (locations) => writeChunks(locations, next), end }
}
