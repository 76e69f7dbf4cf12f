import { type Database, withWriter } from '../db/open.ts'
import { recordAudit } from '../db/queries/audit.ts'
import type { DeviceRef } from '../db/queries/visibility.ts'
import { FIRST_PAGE_MS, workOfLocations } from '../domain/account/requestCost.ts'
import { changesBetween } from '../domain/admin/audit.ts'
import { simplify } from '../domain/geo/simplify.ts'
import { iso } from '../domain/time/iso.ts'
import type { StoredLocation } from '../domain/track/location.ts'
import { continueCostlyWork, runCostlyWork } from '../http/admission/costlyWork.ts'
import {
  acquireLongReply,
  FURTHER_PAGE_ROWS,
  type NextPage,
  streamPages,
} from '../http/admission/longReply.ts'
import { Slices } from '../http/admission/slices.ts'
import type { Context } from '../http/context.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { readFurtherPages, SPAN_PAGE_ROWS } from '../http/paging/spanPages.ts'
import { writerOf } from '../http/writer.ts'
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

/** A reply of one page is no long one. */
export const PAGE_ROWS = 1000
/** D1 allows 1,000 queries a request: with longer pages at the end, four million locations. */
const MAX_SHORT_PAGES = 200
const LONG_PAGE_ROWS = 4900
const MAX_SIMPLIFIED = 50_000
const SIMPLIFIED_LIMIT = {
  max: MAX_SIMPLIFIED,
  excess: () =>
    invalid({
      pointer: '#/query/simplify',
      detail: `takes at most ${MAX_SIMPLIFIED} locations and this span has more: choose a shorter one with from and to`,
    }),
}

/** A span of one device's track. */
type TrackSpan = DeviceRef & Span

export interface ExportOptions {
  format: Format
  geometry: 'points' | 'line'
  /** The tolerance in metres; undefined to keep every location. */
  simplify?: number | undefined
  /** The span as it was asked for. */
  given: { from?: number | undefined; to?: number | undefined }
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
  c: Context,
  span: TrackSpan,
  toleranceMetres: number,
): Promise<Set<number>> => {
  const readPoints = (from: number) =>
    readTrackPoints(c.get('db'), { ...span, from, limit: SPAN_PAGE_ROWS })
  const readNext = async (from: number) => {
    await continueCostlyWork(c, workOfLocations(SPAN_PAGE_ROWS))
    return readPoints(from)
  }
  const points = await readFurtherPages(await readPoints(span.from), readNext, SIMPLIFIED_LIMIT)
  const steps = simplify(
    Float64Array.from(points, ({ latitude }) => latitude),
    Float64Array.from(points, ({ longitude }) => longitude),
    toleranceMetres,
  )
  const isKept = await new Slices(span.accountId).run(steps)
  return new Set(points.flatMap(({ time }, index) => (isKept[index] ? [time] : [])))
}

/** Returns a function that reads the page after the one that it gets. */
const pageReader = (db: Database, span: TrackSpan) => {
  let pages = 1
  return ({ locations }: TrackPage): NextPage<TrackPage> => {
    const from = (locations.at(-1)?.dateTime ?? 0) + 1
    const limit = pages++ < MAX_SHORT_PAGES ? FURTHER_PAGE_ROWS : LONG_PAGE_ROWS
    return { rows: limit, read: () => readTrackPage(db, { ...span, from, limit }) }
  }
}

const dayOf = (at: number): string => iso(at).slice(0, 10)

/** The device's name and the days of the span. */
const fileName = (deviceName: string, { from, to }: Span, page: TrackPage): string => {
  const first = page.locations[0]?.dateTime ?? from
  const last = page.hasMore ? Math.min(to, Date.now()) : (page.locations.at(-1)?.dateTime ?? to)
  const name =
    deviceName.replaceAll(/[^\p{L}\p{M}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '') ||
    'track'
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

/** Before the first byte: no file leaves without its entry. JSON is for reading. */
const recordExport = async (
  c: Context,
  { accountId, deviceId }: TrackSpan,
  { format, given }: ExportOptions,
): Promise<void> => {
  if (format === 'json' || c.req.method === 'HEAD') return
  await recordAudit(withWriter(c.get('db'), writerOf(c)), {
    accountId,
    now: Date.now(),
    action: 'track.exported',
    resource: { type: 'device', id: deviceId },
    changes: changesBetween(null, { format, ...given }),
  })
}

/**
 * The whole span as a streamed file. Everything that can be refused is checked before the stream
 * begins.
 */
export const exportTrack = async (
  c: Context,
  span: TrackSpan,
  options: ExportOptions,
): Promise<TrackExport> => {
  const { format, geometry, simplify: toleranceMetres } = options
  const db = c.get('db')
  const first = await runCostlyWork(c, FIRST_PAGE_MS, () =>
    readFirstPage(db, { ...span, limit: PAGE_ROWS }),
  )
  if (!first) throw new Problem('device-not-found')
  const { deviceName, hasMore } = first
  const slot = hasMore ? acquireLongReply(span.accountId, c) : null
  try {
    const keptTimes =
      toleranceMetres === undefined
        ? null
        : await runCostlyWork(c, FIRST_PAGE_MS, () => readKeptTimes(c, span, toleranceMetres))
    await recordExport(c, span, options)
    const readNext = pageReader(db, span)
    const stream = streamPages<TrackPage, StoredLocation>({
      first,
      readNext: (page) => (page.hasMore ? readNext(page) : null),
      rowsOf: ({ locations }) =>
        keptTimes ? locations.filter(({ dateTime }) => keptTimes.has(dateTime)) : locations,
      writer: WRITERS[format]({ deviceName, isShort: !hasMore }, geometry),
      slot,
    })
    const name = `${fileName(deviceName, span, first)}.${format}`
    return {
      stream,
      headers: {
        'Content-Type': contentType(format),
        ...(format !== 'json' && { 'Content-Disposition': contentDisposition(name) }),
      },
    }
  } catch (error) {
    slot?.release()
    throw error
  }
}
