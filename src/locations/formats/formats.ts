import { parseAccept } from 'hono/utils/accept'
import type { StoredLocation } from '../../domain/track/location.ts'
import type { RowWriter } from '../../http/paging/rowWriter.ts'

export const FORMATS = ['json', 'geojson', 'gpx', 'kml', 'csv'] as const
export type Format = (typeof FORMATS)[number]

const TYPES: Record<Format, string> = {
  json: 'application/json',
  geojson: 'application/geo+json',
  gpx: 'application/gpx+xml',
  kml: 'application/vnd.google-earth.kml+xml',
  csv: 'text/csv',
}

/** The media types beside JSON, with their descriptions. */
export const MEDIA_TYPES = {
  [TYPES.geojson]: 'A feature collection of points or of lines.',
  [TYPES.gpx]: 'GPX 1.1, one track.',
  [TYPES.kml]: 'KML 2.2 with a `gx:Track`.',
  [TYPES.csv]: 'RFC 4180, with a header.',
}

export const contentType = (format: Format): string =>
  format === 'csv' ? `${TYPES.csv}; charset=utf-8; header=present` : TYPES[format]

/** The format that `Accept` prefers; JSON when it names none of them. */
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
  /** Whether the first page is the whole track. */
  isShort: boolean
}

export type Writer = RowWriter<StoredLocation>
