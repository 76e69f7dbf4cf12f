import { parseAccept } from 'hono/utils/accept'
import type { StoredLocation } from '../../domain/location.ts'

export const FORMATS = ['json', 'geojson', 'gpx', 'kml', 'csv'] as const
export type Format = (typeof FORMATS)[number]

const TYPES: Record<Format, string> = {
  json: 'application/json',
  geojson: 'application/geo+json',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
  csv: 'text/csv',
}

/** Beside JSON, and what each is. */
export const MEDIA_TYPES = {
  [TYPES.geojson]: 'A feature collection of points, or of lines.',
  [TYPES.gpx]: 'GPX 1.1, one track.',
  [TYPES.kml]: 'KML 2.2 with a `gx:Track`.',
  [TYPES.csv]: 'RFC 4180, with a header.',
}

export const contentType = (format: Format): string =>
  format === 'csv' ? `${TYPES.csv}; charset=utf-8; header=present` : TYPES[format]

/** What `Accept` likes best of what there is; JSON where it names none of it. */
export const acceptedFormat = (accept: string | undefined): Format => {
  for (const { type, q } of parseAccept(accept ?? '')) {
    if (q <= 0) continue
    if (type === '*/*' || type === 'application/*') return 'json'
    const found = FORMATS.find((format) => TYPES[format] === type.toLowerCase())
    if (found) return found
  }
  return 'json'
}

export interface Track {
  deviceName: string
  /** The whole track is in the first page. */
  isShort: boolean
}

/** A file that is written page by page, a page in small pieces: nothing is kept but what the end must know. */
export interface Writer {
  begin: string
  page: (locations: StoredLocation[]) => Iterable<string>
  end: () => string
}

/** Pieces of some ten kilobytes die young; one string for a whole page would lie about until the next full collection. */
const PIECE = 100

export function* pieces(
  locations: StoredLocation[],
  write: (location: StoredLocation) => string,
): Generator<string> {
  for (let at = 0; at < locations.length; at += PIECE) {
    let text = ''
    for (const location of locations.slice(at, at + PIECE)) text += write(location)
    yield text
  }
}

/** What stands between two entries, and not before the first. */
export const separator = (text: string): (() => string) => {
  let between = ''
  return () => {
    const now = between
    between = text
    return now
  }
}
