import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import {
  LOCATION_COLUMNS,
  type LocationRow,
  packLocation,
  rowOfPacked,
  unpackLocation,
} from '../db/queries/locations.ts'
import { select, selectIn } from '../db/query.ts'
import { archivedMonths, devices, locations } from '../db/schema.ts'
import { literal, readAll, readFirst, statement } from '../db/statement.ts'
import { ArchiveError } from '../domain/archive/tar.ts'
import { isObject, type JsonObject } from '../domain/text/json.ts'
import type { Location, StoredLocation } from '../domain/track/location.ts'
import { readLocation } from '../locations/fastReader.ts'
import { newLocation } from '../locations/forms.ts'
import { presentLocation } from '../locations/present.ts'
import { readTrackPage, type TrackPage } from '../locations/store.ts'

/* Tracks as features of an archive, one for each location, device after device. */

/** Long pages: D1 allows 1,000 queries a request. */
const PAGE_ROWS = 4900
const DEVICE_PAGE = 1000
/** Bounds the memory of a page, whatever its locations carry. */
const MAX_PAGE_BYTES = 2_000_000
const [EARLIEST, LATEST] = [0, Date.UTC(9999, 11, 31)]

/** Reads a page of something at its turn. */
export type ReadInTurn = <T>(rows: number, read: () => Promise<T>) => Promise<T>

interface TracksOf {
  db: Database
  accountId: string
  /** The range of the keys of the account's devices. */
  keys: [first: number, last: number]
  readInTurn: ReadInTurn
}

const toFeature = (deviceId: string, stored: StoredLocation): string => {
  const { latitude, longitude, ...properties } = presentLocation(stored)
  return JSON.stringify({
    type: 'Feature',
    geometry: { type: 'Point', coordinates: [longitude, latitude] },
    properties: { deviceId, ...properties },
  })
}

/** Locations of all devices in one query, which is possible while the cell has all of them. */
const readAcross = ({ db, keys }: TracksOf, [afterKey, afterTime]: [key: number, time: number]) => {
  const restBytes = sql`ifnull(length(rest), 0)`
  const bytes = sql<number>`sum(${restBytes}) OVER
    (ORDER BY key, time ROWS UNBOUNDED PRECEDING)`
  const columns = {
    ...LOCATION_COLUMNS,
    key: locations.deviceKey,
    deviceId: sql<string>`${devices.id}`,
  }
  const page = select(
    columns,
    sql`FROM ${locations} CROSS JOIN ${devices} ON ${devices.key} = ${locations.deviceKey}
      WHERE ${locations.deviceKey} <= ${keys[1]}
        AND (${locations.deviceKey}, ${locations.time}) > (${afterKey}, ${afterTime})
      ORDER BY ${locations.deviceKey}, ${locations.time} LIMIT ${literal(PAGE_ROWS)}`,
  )
  const bounded = selectIn(
    columns,
    () => sql`SELECT * FROM (SELECT *, ${bytes} AS bytes FROM (${page}))
      WHERE bytes - ${restBytes} < ${literal(MAX_PAGE_BYTES)} ORDER BY key, time`,
  )
  return readAll(statement(db, bounded))
}

async function* exportAcross(of: TracksOf): AsyncGenerator<string[]> {
  let after: [number, number] = [of.keys[0], -1]
  for (;;) {
    const rows = await of.readInTurn(PAGE_ROWS, () => readAcross(of, after))
    const last = rows.at(-1)
    if (!last) return
    yield rows.map((row) => toFeature(row.deviceId, unpackLocation(row)))
    after = [last.key, last.time]
  }
}

const readDevices = (
  { db, keys }: TracksOf,
  after: number,
): Promise<{ key: number; id: string }[]> =>
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

/** Device by device through the reader of tracks, which knows where months are. */
async function* exportEach(of: TracksOf): AsyncGenerator<string[]> {
  const { db, accountId, readInTurn } = of
  for (let after = of.keys[0]; ; ) {
    const page = await readInTurn(DEVICE_PAGE, () => readDevices(of, after))
    for (const { id: deviceId } of page) {
      const device = { accountId, groupId: null, deviceId, to: LATEST, limit: PAGE_ROWS }
      for (let from: number | null = EARLIEST; from !== null; ) {
        const query: Parameters<typeof readTrackPage>[1] = { ...device, from }
        const track: TrackPage = await readInTurn(PAGE_ROWS, () => readTrackPage(db, query))
        yield track.locations.map((stored) => toFeature(deviceId, stored))
        from = track.hasMore ? (track.locations.at(-1)?.dateTime ?? LATEST) + 1 : null
      }
    }
    const last = page.length === DEVICE_PAGE ? page.at(-1) : undefined
    if (!last) return
    after = last.key
  }
}

const hasArchived = async ({ db, accountId }: TracksOf): Promise<boolean> => {
  const months = sql`FROM ${archivedMonths} WHERE ${archivedMonths.accountId} = ${accountId} LIMIT 1`
  return (await readFirst(statement(db, select({ month: archivedMonths.month }, months)))) !== null
}

export async function* exportTracks(of: TracksOf): AsyncGenerator<string[]> {
  yield* (await hasArchived(of)) ? exportEach(of) : exportAcross(of)
}

const readPosition = (geometry: unknown): Pick<Location, 'latitude' | 'longitude'> => {
  const { type, coordinates } = isObject(geometry) ? geometry : {}
  if (type !== 'Point' || !Array.isArray(coordinates) || coordinates.length !== 2)
    throw new ArchiveError('the geometry of a location must be a Point of two numbers')
  return { longitude: coordinates[0], latitude: coordinates[1] }
}

/** A feature as the device that it is of, and the row that its location is stored in. */
export const readFeature = (
  feature: unknown,
  now: number,
): { deviceId: string; row: LocationRow } => {
  const { geometry, properties } = isObject(feature) ? feature : ({} as JsonObject)
  const { deviceId, receivedAt, ...members } = isObject(properties) ? properties : {}
  const sent = { ...members, ...readPosition(geometry) }
  const { dateTime, ...others } = sent as JsonObject
  const { latitude, longitude, ...rest } = others
  const ordered = { dateTime, latitude, longitude, ...rest }
  const location = readLocation(ordered, now) ?? newLocation.safeParse(ordered).data
  const arrival = Date.parse(String(receivedAt))
  if (!location || typeof deviceId !== 'string' || Number.isNaN(arrival))
    throw new ArchiveError('a location is not valid')
  return { deviceId, row: rowOfPacked(packLocation(location), arrival) }
}
