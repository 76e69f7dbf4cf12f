import { readFile } from 'node:fs/promises'
import { type Csv, hasPositions, parseCsv, readTrackCsv } from './csv.ts'
import { readGeoJson } from './geojson.ts'
import { readGpx } from './gpx.ts'
import { readKml } from './kml.ts'
import { type Track, UnreadableFile } from './track.ts'

export const TRACK_FORMATS = ['gpx', 'csv', 'kml', 'geojson'] as const
export type TrackFormat = (typeof TRACK_FORMATS)[number]

const EXTENSIONS: Readonly<Record<string, TrackFormat>> = {
  gpx: 'gpx',
  csv: 'csv',
  tsv: 'csv',
  txt: 'csv',
  kml: 'kml',
  geojson: 'geojson',
  json: 'geojson',
}

export const isTrackFormat = (text: string): text is TrackFormat =>
  (TRACK_FORMATS as readonly string[]).includes(text)

/** The format that the name of a file tells. */
export const formatOf = (file: string): TrackFormat | undefined =>
  EXTENSIONS[/\.([^.]+)$/.exec(file)?.[1]?.toLowerCase() ?? '']

/** UTF-8 unless a byte order mark or the declaration of XML says otherwise. */
export const decodeFile = (bytes: Uint8Array): string => {
  const [first, second] = bytes
  if (first === 0x50 && second === 0x4b)
    throw new UnreadableFile('It is a zip archive (KMZ?): unpack it first.')
  const isUtf16 = (first === 0xff && second === 0xfe) || (first === 0xfe && second === 0xff)
  const begin = Buffer.from(bytes.subarray(0, 200)).toString('latin1')
  const declared = /^(?:\xef\xbb\xbf)?<\?xml[^>]*encoding=["']([\w-]+)["']/.exec(begin)?.[1]
  const encoding = isUtf16 ? (first === 0xff ? 'utf-16le' : 'utf-16be') : (declared ?? 'utf-8')
  try {
    return new TextDecoder(encoding, { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new UnreadableFile(`It is not text in ${encoding.toUpperCase()}.`)
  }
}

const readStdin = async (): Promise<Buffer> => {
  const parts: Buffer[] = []
  for await (const part of process.stdin) parts.push(part as Buffer)
  return Buffer.concat(parts)
}

/** `-` is the standard input. */
export const readText = async (file: string): Promise<string> => {
  const bytes = await (file === '-' ? readStdin() : readFile(file))
  return decodeFile(bytes)
}

export const parseTrack = (format: TrackFormat, text: string): Track => {
  if (format === 'gpx') return readGpx(text)
  if (format === 'kml') return readKml(text)
  return format === 'geojson' ? readGeoJson(text) : readTrackCsv(parseCsv(text))
}

/** Whether a CSV file lists devices, and no positions. */
export const isDeviceList = (csv: Csv): boolean =>
  !hasPositions(csv) && csv.header.some((column) => column.toLowerCase() === 'name')
