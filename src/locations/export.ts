import type { Database } from '../db/open.ts'
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
  beginTrack,
  readShape,
  readTrackPage,
  type Span,
  type TrackOwner,
  type TrackPage,
} from './store.ts'

/** D1 allows 1,000 queries a request: pages of this many rows reach four million. */
const PAGE = 4000
const MAX_SIMPLIFIED = 50_000

export interface Export {
  format: Format
  geometry: 'points' | 'line'
  simplify?: number | undefined
}

const WRITERS: Record<Format, (track: Track, geometry: Export['geometry']) => Writer> = {
  json,
  csv,
  gpx,
  kml,
  geojson: (track, geometry) => (geometry === 'line' ? geojsonLine(track) : geojsonPoints(track)),
}

/** The times of the locations that stay. */
const keptTimes = async (
  db: Database,
  owner: TrackOwner,
  span: Span,
  metres: number,
): Promise<Set<number>> => {
  const shape = await readShape(db, owner, span, MAX_SIMPLIFIED + 1)
  if (shape.length > MAX_SIMPLIFIED)
    throw invalid({
      pointer: '#/query/simplify',
      detail: `takes at most ${MAX_SIMPLIFIED} locations and this span has more: choose a shorter one with from and to`,
    })
  const keep = simplify(
    Float64Array.from(shape, ({ latitude }) => latitude),
    Float64Array.from(shape, ({ longitude }) => longitude),
    metres,
  )
  return new Set(shape.flatMap(({ time }, index) => (keep[index] ? [time] : [])))
}

/** Each holds a page or two, some megabytes. One whose reader went away without a word is forgotten a minute after its last page. */
const exportsUnderWay = new Slots(60_000)
const MAX_EXPORTS = 12

const encoder = new TextEncoder()

/** Reads a page when the one before has been taken away, so that a track of any length needs the memory of two. */
async function* written(
  first: TrackPage,
  read: (from: number) => Promise<TrackPage>,
  writer: Writer,
  kept: Set<number> | null,
): AsyncGenerator<Uint8Array> {
  try {
    yield encoder.encode(writer.begin)
    for (let page = first; ; page = await read((page.locations.at(-1)?.dateTime ?? 0) + 1)) {
      const locations = kept
        ? page.locations.filter(({ dateTime }) => kept.has(dateTime))
        : page.locations
      if (locations.length > 0)
        for (const text of writer.page(locations)) yield encoder.encode(text)
      if (!page.more) break
      exportsUnderWay.renew(first, Date.now())
    }
    yield encoder.encode(writer.end())
  } finally {
    exportsUnderWay.release(first)
  }
}

/** Without a queue of its own: nothing is read that nobody has asked for. Pages that were never begun do not end by themselves. */
const streamOf = (
  pages: AsyncGenerator<Uint8Array>,
  cancelled: () => void,
): ReadableStream<Uint8Array> =>
  new ReadableStream(
    {
      async pull(controller) {
        const { value, done } = await pages.next()
        if (!done) return controller.enqueue(value)
        controller.close()
      },
      async cancel() {
        cancelled()
        await pages.return(undefined)
      },
    },
    { highWaterMark: 0 },
  )

const dayOf = (at: number): string => iso(at).slice(0, 10)

/** Named after the device and the days; once in ASCII for old clients, once as it is. */
const disposition = (
  deviceName: string,
  { from, to }: Span,
  page: TrackPage,
  extension: string,
): string => {
  const first = page.locations[0]?.dateTime ?? from
  const last = page.more ? Math.min(to, Date.now()) : (page.locations.at(-1)?.dateTime ?? to)
  const days = `${dayOf(Math.max(from, first))}_${dayOf(Math.min(to, last))}.${extension}`
  const name =
    deviceName.replaceAll(/[^\p{L}\p{N}._-]+/gu, '-').replaceAll(/^[-.]+|[-.]+$/g, '') || 'track'
  const ascii = name.replaceAll(/[^\x21-\x7e]/g, '_')
  return `attachment; filename="${ascii}_${days}"; filename*=UTF-8''${encodeURIComponent(`${name}_${days}`)}`
}

/** The whole track as a file, streamed: what is asked of the first page (is there such a device?) is asked before the answer begins. */
export const exportTrack = async (
  db: Database,
  owner: TrackOwner,
  span: Span,
  wanted: Export,
): Promise<{ stream: ReadableStream<Uint8Array>; headers: Record<string, string> }> => {
  const { format, geometry, simplify: metres } = wanted
  const first = await beginTrack(db, owner, span, PAGE)
  if (!first) throw new Problem('not-found')
  if (first.more && !exportsUnderWay.acquire(first, Date.now(), MAX_EXPORTS))
    throw new Problem('unavailable', { detail: 'Too many long exports are under way.' })
  try {
    const kept = metres === undefined ? null : await keptTimes(db, owner, span, metres)
    const writer = WRITERS[format]({ deviceName: first.deviceName, isShort: !first.more }, geometry)
    const pages = written(
      first,
      (from) => readTrackPage(db, owner, { ...span, from }, PAGE),
      writer,
      kept,
    )
    const headers = { 'Content-Type': contentType(format) }
    return {
      stream: streamOf(pages, () => exportsUnderWay.release(first)),
      headers:
        format === 'json'
          ? headers
          : {
              ...headers,
              'Content-Disposition': disposition(first.deviceName, span, first, format),
            },
    }
  } catch (error) {
    exportsUnderWay.release(first)
    throw error
  }
}
