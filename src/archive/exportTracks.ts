import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { LOCATION_COLUMNS, type LocationRow, unpackLocation } from '../db/queries/locations.ts'
import { select, selectIn } from '../db/query.ts'
import { archivedMonths, devices, locations } from '../db/schema.ts'
import { literal, readAll, readFirst, statement } from '../db/statement.ts'
import { monthOf } from '../domain/time/month.ts'
import type { StoredLocation } from '../domain/track/location.ts'
import { Problem } from '../http/contract/problem.ts'
import { presentLocation } from '../locations/present.ts'
import { MonthReader, mergeArchived } from '../locations/store.ts'

/* Tracks as features of an archive, one for each location, device after device. */

/** Long pages: D1 allows 1,000 queries a request. */
const PAGE_ROWS = 4900
const DEVICE_PAGE = 10_000
/** Bounds the memory of a page, whatever its locations carry. */
const MAX_PAGE_BYTES = 2_000_000
/** What one request can write within the limits of CPU time and queries. */
export const MAX_EXPORTED_LOCATIONS = 2_000_000
/** Of each, up to 10,000 rows are in memory. */
export const MAX_EXPORTED_MONTHS = 12

/** Reads a page of something at its turn. */
export type ReadInTurn = <T>(rows: number, read: () => Promise<T>) => Promise<T>

export interface Tracks {
  db: Database
  accountId: string
  /** The range of the keys of the account's devices. */
  keys: [first: number, last: number]
  /** Both ends are included. */
  from: number
  to: number
  /** Older locations of the bucket are no longer kept. */
  keptSince: number
}

type Position = [key: number, time: number]

const toFeature = (deviceId: string, stored: StoredLocation): string => {
  const { latitude, longitude, ...properties } = presentLocation(stored)
  return JSON.stringify({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: { deviceId, ...properties },
  })
}

/** Locations of the span after a position, of all devices in the order of their keys. */
const spanAfter = ({ keys, from, to }: Tracks, [afterKey, afterTime]: Position) => {
  const first = sql`CASE ${devices.key} WHEN ${afterKey} THEN ${Math.max(from, afterTime + 1)}
    ELSE ${from} END`
  return sql`FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
      AND ${locations.time} BETWEEN ${first} AND ${to}
    WHERE ${devices.key} BETWEEN ${afterKey} AND ${keys[1]}`
}

export const readTracks = (of: Tracks, after: Position) => {
  const restBytes = sql`ifnull(length(rest), 0)`
  const bytes = sql<number>`sum(${restBytes}) OVER
    (ORDER BY key, time ROWS UNBOUNDED PRECEDING)`
  const columns = { ...LOCATION_COLUMNS, key: locations.deviceKey }
  const page = select(
    columns,
    sql`${spanAfter(of, after)} ORDER BY ${devices.key}, ${locations.time}
      LIMIT ${literal(PAGE_ROWS)}`,
  )
  const bounded = selectIn(
    columns,
    () => sql`SELECT * FROM (SELECT *, ${bytes} AS bytes FROM (${page}))
      WHERE bytes - ${restBytes} < ${literal(MAX_PAGE_BYTES)} ORDER BY key, time`,
  )
  return readAll(statement(of.db, bounded))
}

export const countTracks = async (of: Tracks): Promise<number> => {
  const rows = sql`SELECT 1 ${spanAfter(of, [of.keys[0], -1])}
    LIMIT ${literal(MAX_EXPORTED_LOCATIONS + 1)}`
  const counted = select({ count: sql<number>`count(*)` }, sql`FROM (${rows})`)
  return (await readFirst(statement(of.db, counted)))?.count ?? 0
}

export const readMonthsOf = ({ db, accountId, from, to }: Tracks) =>
  readAll(
    statement(
      db,
      select(
        {
          object: archivedMonths.object,
          bytes: archivedMonths.bytes,
          locations: archivedMonths.locations,
        },
        sql`FROM ${archivedMonths} WHERE ${archivedMonths.accountId} = ${accountId}
          AND ${archivedMonths.month} BETWEEN ${monthOf(from)} AND ${monthOf(to)}
          ORDER BY ${archivedMonths.month}`,
      ),
    ),
  )
export type ExportedMonth = Awaited<ReturnType<typeof readMonthsOf>>[number]

const SPLIT =
  'Export it in several archives with `from` and `to`, which choose the locations, and import them together: `npm run import -- first.tar.gz second.tar.gz`.'

/** The months of the bucket, unless there is more than one archive can have. */
export const requireExportable = async (of: Tracks): Promise<ExportedMonth[]> => {
  const months = await readMonthsOf(of)
  const archived = months.reduce((sum, month) => sum + month.locations, 0)
  if (months.length > MAX_EXPORTED_MONTHS)
    throw new Problem('span-too-large', {
      detail: `The account has ${months.length} months of old locations, and an archive has at most ${MAX_EXPORTED_MONTHS}. ${SPLIT}`,
    })
  if (archived + (await countTracks(of)) > MAX_EXPORTED_LOCATIONS)
    throw new Problem('span-too-large', {
      detail: `The account has more than ${MAX_EXPORTED_LOCATIONS.toLocaleString('en')} locations, the most that an archive has. ${SPLIT}`,
    })
  return months
}

const readDevices = ({ db, keys }: Tracks, after: number): Promise<{ key: number; id: string }[]> =>
  readAll(
    statement(
      db,
      select(
        { key: devices.key, id: devices.id },
        sql`FROM ${devices} WHERE ${devices.key} > ${after} AND ${devices.key} <= ${keys[1]}
          ORDER BY ${devices.key} LIMIT ${literal(DEVICE_PAGE)}`,
      ),
    ),
  )

async function* eachDevice(of: Tracks, inTurn: ReadInTurn) {
  for (let after = of.keys[0] - 1; ; ) {
    const page = await inTurn(DEVICE_PAGE, () => readDevices(of, after))
    yield* page
    const last = page.at(-1)
    if (!last || page.length < DEVICE_PAGE) return
    after = last.key
  }
}

/** The rows of one device from the cell and from the bucket, in pages. */
async function* withArchived(
  own: LocationRow[],
  archived: AsyncIterable<LocationRow[]> | LocationRow[][],
): AsyncGenerator<LocationRow[]> {
  let rest = own
  for await (const page of archived) {
    const last = page.at(-1)?.time ?? 0
    const later = rest.findIndex(({ time }) => time > last)
    const count = later === -1 ? rest.length : later
    yield mergeArchived(rest.slice(0, count), page, 'asc')
    rest = rest.slice(count)
  }
  yield rest
}

export async function* exportTracks(
  of: Tracks,
  months: readonly ExportedMonth[],
  inTurn: ReadInTurn,
): AsyncGenerator<string[]> {
  const { history } = of.db
  const reader = history && months.length > 0 ? new MonthReader(history, months) : null
  let after: Position = [of.keys[0], -1]
  const readNext = () => inTurn(PAGE_ROWS, () => readTracks(of, after))
  let page = await readNext()
  let at = 0
  for await (const { key, id } of eachDevice(of, inTurn)) {
    for (let from = of.from; ; ) {
      // Rows of devices that were restored or deleted meanwhile are passed over.
      for (;;) {
        while ((page[at]?.key ?? key) < key) at++
        const last = page.at(-1)
        if (!last || last.key >= key) break
        after = [last.key, last.time]
        page = await readNext()
        at = 0
      }
      const begin = at
      while (page[at]?.key === key) at++
      const own = page.slice(begin, at)
      const end = page.at(-1)
      // The device may have more rows in the next page.
      const isCut = end?.key === key
      const to = isCut ? end.time : of.to
      const archived = reader?.pages(key, Math.max(from, of.keptSince), to) ?? []
      for await (const rows of withArchived(own, archived))
        yield rows.map((row) => toFeature(id, unpackLocation(row)))
      if (!isCut) break
      after = [key, end.time]
      page = await readNext()
      at = 0
      from = end.time + 1
    }
  }
}
