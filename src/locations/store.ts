import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import {
  LOCATION_COLUMNS,
  type LocationRow,
  unpackFound,
  unpackLocation,
} from '../db/queries/locations.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { nullables, select, selectIn } from '../db/query.ts'
import { devices, locations } from '../db/schema.ts'
import {
  compile,
  literal,
  type Placeholders,
  placeholders,
  type RowOf,
  readAll,
  readFirst,
  runBatch,
} from '../db/statement.ts'
import { NUMBER_FIELDS, type StoredLocation } from '../domain/track/location.ts'
import { MonthReader } from './history/monthReader.ts'
import { addArchived, mergeArchived, readAcross, selectMonths } from './history/store.ts'

/** For stores of other features that read tracks. */
export { addArchived, MonthReader, mergeArchived, readAcross, selectMonths }

const newest = alias(locations, 'newest')

const selectLast = compile((_: Placeholders<DeviceRef>) =>
  select(
    nullables(LOCATION_COLUMNS),
    sql`FROM ${devices}
      LEFT JOIN ${locations} ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = (
        SELECT max(${newest.time}) FROM ${locations} ${newest}
        WHERE ${newest.deviceKey} = ${devices.key})
      WHERE ${IS_VISIBLE_DEVICE}`,
  ),
)

/** Undefined when the viewer can see no such device, null when it has not reported yet. */
export const findLastLocation = async (
  db: Database,
  device: DeviceRef,
): Promise<StoredLocation | null | undefined> => {
  const row = await readFirst(selectLast(db, device))
  return row ? unpackFound(row) : undefined
}

export type Order = 'asc' | 'desc'

export interface Span {
  from: number
  to: number
}

export interface TrackPage {
  locations: StoredLocation[]
  /** Whether there may be more after the last of these. */
  hasMore: boolean
}

/** A part of a device's track: the first `limit` locations of a span. */
interface TrackQuery extends DeviceRef, Span {
  limit: number
  /** Ascending unless given. */
  order?: Order
}

type Bounds = TrackQuery & { rows: number }
const p = placeholders('from', 'to', 'limit', 'rows')

/** Bounds the memory of a page, whatever its locations carry. */
const MAX_PAGE_BYTES = 2_000_000

const SPAN = sql`${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
  WHERE ${IS_VISIBLE_DEVICE} AND ${locations.time} BETWEEN ${p.from} AND ${p.to}`

const pageIn = (order: SQL) =>
  compile((_: Placeholders<Bounds>) => {
    const restBytes = sql`ifnull(length(rest), 0)`
    const bytes = sql<number>`sum(${restBytes}) OVER (ORDER BY time ${order} ROWS UNBOUNDED PRECEDING)`
    const page = select(
      LOCATION_COLUMNS,
      sql`FROM ${SPAN} ORDER BY ${locations.time} ${order} LIMIT ${p.rows}`,
    )
    return selectIn(
      { ...LOCATION_COLUMNS, bytes },
      () => sql`SELECT * FROM (SELECT *, ${bytes} AS bytes FROM (${page}))
        WHERE bytes - ${restBytes} < ${literal(MAX_PAGE_BYTES)} ORDER BY time ${order}`,
    )
  })
const PAGES = { asc: pageIn(sql`ASC`), desc: pageIn(sql`DESC`) }

/** One row more than asked for tells whether there are more. */
const selectPage = (db: Database, query: TrackQuery) =>
  PAGES[query.order ?? 'asc'](db, { ...query, rows: query.limit + 1 })

const selectName = compile((_: Placeholders<DeviceRef>) =>
  select({ name: devices.name }, sql`FROM ${devices} WHERE ${IS_VISIBLE_DEVICE}`),
)

type PageRow = RowOf<typeof PAGES.asc>

/** Adds up the bytes of a merged page, and ends it where they are too many. */
const boundBytes = (rows: PageRow[]): PageRow[] => {
  let bytes = 0
  const counted = rows.map((row) => {
    bytes += row.rest?.length ?? 0
    return { ...row, bytes }
  })
  return counted.filter((row) => row.bytes - (row.rest?.length ?? 0) < MAX_PAGE_BYTES)
}

const isFull = (rows: PageRow[]): boolean => (rows.at(-1)?.bytes ?? 0) >= MAX_PAGE_BYTES

const toPage = async (
  db: Database,
  query: TrackQuery,
  own: PageRow[],
  months: Parameters<typeof addArchived>[2],
): Promise<TrackPage> => {
  const { limit } = query
  const isCut = own.length > limit || isFull(own)
  const across = await addArchived(db, { ...query, limit: limit + 1 }, months, {
    rows: own,
    isCut,
    toRow: (row) => ({ ...row, bytes: 0 }),
  })
  const rows = across === own ? own : boundBytes(across)
  return {
    locations: rows.slice(0, limit).map(unpackLocation),
    hasMore: rows.length > limit || isFull(rows),
  }
}

export const readTrackPage = async (db: Database, query: TrackQuery): Promise<TrackPage> => {
  const [page, months] = [selectPage(db, query), selectMonths(db, query)]
  if (!months) return toPage(db, query, await readAll(page), undefined)
  const found = await runBatch(db, { page, months })
  return toPage(db, query, found.page.results, found.months.results)
}

/** A page with the device's name, in one round trip; null when the viewer can see no such device. */
export const readFirstPage = async (
  db: Database,
  query: TrackQuery,
): Promise<(TrackPage & { deviceName: string }) | null> => {
  const { found, page, months } = await runBatch(db, {
    found: selectName(db, query),
    page: selectPage(db, query),
    months: selectMonths(db, query),
  })
  const [device] = found.results
  if (!device) return null
  return { deviceName: device.name, ...(await toPage(db, query, page.results, months?.results)) }
}

const selectPoints = compile((_: Placeholders<TrackQuery>) =>
  select(
    {
      time: locations.time,
      latitude: sql<number>`${locations.latitude} / 1e7`,
      longitude: sql<number>`${locations.longitude} / 1e7`,
    },
    sql`FROM ${SPAN} ORDER BY ${locations.time} LIMIT ${p.limit}`,
  ),
)

const toPoint = ({ time, latitude, longitude }: LocationRow) => ({
  time,
  latitude: latitude / NUMBER_FIELDS.latitude.scale,
  longitude: longitude / NUMBER_FIELDS.longitude.scale,
})

/** Times and coordinates alone, for the shape of a track. */
export const readTrackPoints = (db: Database, query: TrackQuery) =>
  readAcross(db, query, selectPoints(db, query), toPoint)

const countSpan = compile((_: Placeholders<Bounds>) =>
  select({ count: sql<number>`count(*)` }, sql`FROM (SELECT 1 FROM ${SPAN} LIMIT ${p.rows})`),
)

const COUNTED_PAGE = 5000

/** Whether the span has more than `limit` locations. Counts no more than it has to. */
export const exceedsLocations = async (db: Database, query: TrackQuery): Promise<boolean> => {
  const counted = { ...query, rows: query.limit + 1 }
  const { own, months } = await runBatch(db, {
    own: countSpan(db, counted),
    months: selectMonths(db, query),
  })
  const count = own.results[0]?.count ?? 0
  if (count > query.limit || !months?.results.length) return count > query.limit
  // What both have counts once, so the times themselves are needed.
  let [rest, from] = [query.limit, query.from]
  while (rest >= 0) {
    const page = await readTrackPoints(db, { ...query, from, limit: COUNTED_PAGE })
    rest -= page.length
    if (page.length < COUNTED_PAGE) return rest < 0
    from = (page.at(-1)?.time ?? 0) + 1
  }
  return true
}
