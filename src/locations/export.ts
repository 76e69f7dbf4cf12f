import type { Database } from '../db/open.ts'
import type { DeviceRef } from '../db/visibility.ts'
import { iso } from '../domain/iso.ts'
import { simplify } from '../domain/simplify.ts'
import { Slots } from '../http/loadShedding.ts'
import { invalid, Problem } from '../http/problem.ts'
import { csv } from './formats/csv.ts'
import { contentType, type Format, type Track, type Writer } from './formats/formats.ts'
import { geojsonLine, geojsonPoints } from './formats/geojson.ts'
import { gpx } from './formats/gpx.ts'
import { json } from './formats/json.ts'
import { kml } from './formats/kml.ts'
import {
  readFirstPage,
  readTrackPage,
  readTrackPoints,
  type Span,
  type TrackPage,
} from './store.ts'

/** D1 allows 1,000 queries a request, so pages of this size export up to four million locations. */
const PAGE_ROWS = 4000
const MAX_SIMPLIFIED = 50_000

/** A span of one device's track. */
type TrackSpan = DeviceRef & Span

export interface ExportOptions {
  format: Format
  geometry: 'points' | 'line'
  /** The tolerance in metres; undefined to keep every location. */
  simplify?: number | undefined
}

const WRITERS: Record<Format, (track: Track, geometry: ExportOptions['geometry']) => Writer> = {
  json,
  csv,
  gpx,
  kml,
  geojson: (track, geometry) => (geometry === 'line' ? geojsonLine(track) : geojsonPoints(track)),
}

/** The times of the locations that a simplified track keeps. */
const readKeptTimes = async (
  db: Database,
  span: TrackSpan,
  toleranceMetres: number,
): Promise<Set<number>> => {
  const points = await readTrackPoints(db, { ...span, limit: MAX_SIMPLIFIED + 1 })
  if (points.length > MAX_SIMPLIFIED)
    throw invalid({
      pointer: '#/query/simplify',
      detail: `takes at most ${MAX_SIMPLIFIED} locations and this span has more: choose a shorter one with from and to`,
    })
  const isKept = simplify(
    Float64Array.from(points, ({ latitude }) => latitude),
    Float64Array.from(points, ({ longitude }) => longitude),
    toleranceMetres,
  )
  return new Set(points.flatMap(({ time }, index) => (isKept[index] ? [time] : [])))
}

/**
 * An export holds up to two pages, some megabytes. One that was abandoned frees its slot after a
 * minute.
 */
const longExports = new Slots(60_000)
const MAX_LONG_EXPORTS = 12

const encoder = new TextEncoder()

interface Source {
  first: TrackPage
  readNext: (from: number) => Promise<TrackPage>
  writer: Writer
  /** Null to keep every location. */
  keptTimes: Set<number> | null
}

/**
 * Reads each page only when the one before has been consumed, so memory does not grow with the
 * track.
 */
async function* writeTrack(source: Source): AsyncGenerator<Uint8Array> {
  const { first, readNext, writer, keptTimes } = source
  try {
    yield encoder.encode(writer.begin)
    for (let page = first; ; page = await readNext((page.locations.at(-1)?.dateTime ?? 0) + 1)) {
      const kept = keptTimes
        ? page.locations.filter(({ dateTime }) => keptTimes.has(dateTime))
        : page.locations
      if (kept.length > 0) for (const text of writer.page(kept)) yield encoder.encode(text)
      if (!page.hasMore) break
      longExports.renew(first, Date.now())
    }
    yield encoder.encode(writer.end())
  } finally {
    longExports.release(first)
  }
}

/**
 * Has no queue: nothing is read before the client asks. A generator that never began runs no
 * `finally`, so cancelling calls `onCancel`.
 */
const streamOf = (
  chunks: AsyncGenerator<Uint8Array>,
  onCancel: () => void,
): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await chunks.next()
        if (!done) return controller.enqueue(value)
        controller.close()
      },
      async cancel() {
        onCancel()
        await chunks.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )

const dayOf = (at: number): string => iso(at).slice(0, 10)

/** The device's name and the days of the span. */
const fileName = (deviceName: string, { from, to }: Span, page: TrackPage): string => {
  const first = page.locations[0]?.dateTime ?? from
  const last = page.hasMore ? Math.min(to, Date.now()) : (page.locations.at(-1)?.dateTime ?? to)
  const name =
    deviceName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'track'
  return `${name}_${dayOf(Math.max(from, first))}_${dayOf(Math.min(to, last))}`
}

/** The name twice: in ASCII for old clients, and in UTF-8. */
const contentDisposition = (name: string): string => {
  const ascii = name.replaceAll(/[^\x21-\x7e]/g, '_')
  return `attachment; filename="${ascii}"; filename*=UTF-8''${encodeURIComponent(name)}`
}

interface TrackExport {
  stream: ReadableStream<Uint8Array>
  headers: Record<string, string>
}

/**
 * The whole span as a streamed file. Everything that can be refused is checked before the stream
 * begins.
 */
export const exportTrack = async (
  db: Database,
  span: TrackSpan,
  { format, geometry, simplify: toleranceMetres }: ExportOptions,
): Promise<TrackExport> => {
  const first = await readFirstPage(db, { ...span, limit: PAGE_ROWS })
  if (!first) throw new Problem('device-not-found')
  if (first.hasMore && !longExports.acquire(first, Date.now(), MAX_LONG_EXPORTS))
    throw new Problem('unavailable', {
      detail: 'Too many long exports are running. Try again later.',
    })
  try {
    const { deviceName, hasMore } = first
    const chunks = writeTrack({
      first,
      readNext: (from) => readTrackPage(db, { ...span, from, limit: PAGE_ROWS }),
      writer: WRITERS[format]({ deviceName, isShort: !hasMore }, geometry),
      keptTimes:
        toleranceMetres === undefined ? null : await readKeptTimes(db, span, toleranceMetres),
    })
    const name = `${fileName(deviceName, span, first)}.${format}`
    return {
      stream: streamOf(chunks, () => longExports.release(first)),
      headers: {
        'Content-Type': contentType(format),
        ...(format !== 'json' && { 'Content-Disposition': contentDisposition(name) }),
      },
    }
  } catch (error) {
    longExports.release(first)
    throw error
  }
}
