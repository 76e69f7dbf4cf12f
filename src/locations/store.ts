import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { LOCATION_COLUMNS, unpackFound, unpackLocation } from '../db/queries/locations.ts'
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
import type { StoredLocation } from '../domain/track/location.ts'

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

const toPage = (rows: RowOf<typeof PAGES.asc>[], limit: number): TrackPage => ({
  locations: rows.slice(0, limit).map(unpackLocation),
  hasMore: rows.length > limit || (rows.at(-1)?.bytes ?? 0) >= MAX_PAGE_BYTES,
})

export const readTrackPage = async (db: Database, query: TrackQuery): Promise<TrackPage> =>
  toPage(await readAll(selectPage(db, query)), query.limit)

/** A page with the device's name, in one round trip; null when the viewer can see no such device. */
export const readFirstPage = async (
  db: Database,
  query: TrackQuery,
): Promise<(TrackPage & { deviceName: string }) | null> => {
  const { found, page } = await runBatch(db, {
    found: selectName(db, query),
    page: selectPage(db, query),
  })
  const [device] = found.results
  return device ? { deviceName: device.name, ...toPage(page.results, query.limit) } : null
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

/** Times and coordinates alone, for the shape of a track. */
export const readTrackPoints = (db: Database, query: TrackQuery) => readAll(selectPoints(db, query))

const countSpan = compile((_: Placeholders<Bounds>) =>
  select({ count: sql<number>`count(*)` }, sql`FROM (SELECT 1 FROM ${SPAN} LIMIT ${p.rows})`),
)

/** Whether the span has more than `limit` locations. Counts no more than it has to. */
export const exceedsLocations = async (db: Database, query: TrackQuery): Promise<boolean> => {
  const found = await readFirst(countSpan(db, { ...query, rows: query.limit + 1 }))
  return (found?.count ?? 0) > query.limit
}
