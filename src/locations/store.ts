import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { LOCATION_COLUMNS, type LocationRow, unpackLocation } from '../db/queries/locations.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { devices, locations } from '../db/schema.ts'
import {
  compile,
  literal,
  names,
  placeholders,
  readAll,
  readFirst,
  runBatch,
  type Statement,
} from '../db/statement.ts'
import type { StoredLocation } from '../domain/track/location.ts'

const newest = alias(locations, 'newest')

const selectLast = compile<DeviceRef, LocationRow | { time: null }>(
  sql`SELECT ${LOCATION_COLUMNS} FROM ${devices}
    LEFT JOIN ${locations} ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = (
      SELECT max(${newest.time}) FROM ${locations} ${newest}
      WHERE ${newest.deviceKey} = ${devices.key})
    WHERE ${IS_VISIBLE_DEVICE}`,
)

/** Undefined when the viewer can see no such device, null when it has not reported yet. */
export const findLastLocation = async (
  db: Database,
  device: DeviceRef,
): Promise<StoredLocation | null | undefined> => {
  const row = await readFirst(selectLast(db, device))
  if (!row) return undefined
  return row.time === null ? null : unpackLocation(row)
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
export interface TrackQuery extends DeviceRef, Span {
  limit: number
  /** Ascending unless given. */
  order?: Order
}

type Bounds = TrackQuery & { rows: number }
type PageRow = LocationRow & { bytes: number }

const p = placeholders('from', 'to', 'rows')

/** Bounds the memory of a page, whatever its locations carry. */
const MAX_PAGE_BYTES = 2_000_000

const TIME = names(locations.time)
const REST_BYTES = sql`ifnull(length(${names(locations.rest)}), 0)`

const SPAN = sql`${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
  WHERE ${IS_VISIBLE_DEVICE} AND ${locations.time} BETWEEN ${p.from} AND ${p.to}`

const pageIn = (order: SQL): SQL =>
  sql`SELECT * FROM (
      SELECT *, sum(${REST_BYTES}) OVER (ORDER BY ${TIME} ${order} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT ${LOCATION_COLUMNS} FROM ${SPAN}
        ORDER BY ${locations.time} ${order} LIMIT ${p.rows}))
    WHERE bytes - ${REST_BYTES} < ${literal(MAX_PAGE_BYTES)} ORDER BY ${TIME} ${order}`

const ascendingPage = compile<Bounds, PageRow>(pageIn(sql`ASC`))
const descendingPage = compile<Bounds, PageRow>(pageIn(sql`DESC`))

const selectPage = (db: Database, query: TrackQuery): Statement<PageRow> => {
  const select = query.order === 'desc' ? descendingPage : ascendingPage
  // One row more than asked for tells whether there are more.
  return select(db, { ...query, rows: query.limit + 1 })
}

const selectName = compile<DeviceRef, { name: string }>(
  sql`SELECT ${devices.name} FROM ${devices} WHERE ${IS_VISIBLE_DEVICE}`,
)

const toPage = (rows: PageRow[], limit: number): TrackPage => ({
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
  const [{ results: found }, { results: rows }] = await runBatch(db, [
    selectName(db, query),
    selectPage(db, query),
  ])
  const [device] = found
  return device ? { deviceName: device.name, ...toPage(rows, query.limit) } : null
}

export interface TrackPoint {
  time: number
  latitude: number
  longitude: number
}

const selectPoints = compile<TrackQuery, TrackPoint>(
  sql`SELECT ${locations.time},
      ${locations.latitude} / 1e7 AS latitude, ${locations.longitude} / 1e7 AS longitude
    FROM ${SPAN} ORDER BY ${locations.time} LIMIT ${sql.placeholder('limit')}`,
)

/** Times and coordinates alone, for the shape of a track. */
export const readTrackPoints = (db: Database, query: TrackQuery): Promise<TrackPoint[]> =>
  readAll(selectPoints(db, query))

const countSpan = compile<Bounds, { count: number }>(
  sql`SELECT count(*) AS count FROM (SELECT 1 FROM ${SPAN} LIMIT ${p.rows})`,
)

/** Whether the span has more than `limit` locations. Counts no more than it has to. */
export const exceedsLocations = async (db: Database, query: TrackQuery): Promise<boolean> => {
  const found = await readFirst(countSpan(db, { ...query, rows: query.limit + 1 }))
  return (found?.count ?? 0) > query.limit
}
