import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import type { LocationRow } from '../db/queries/locations.ts'
import { type DeviceRef, isVisibleDevice } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { compile, type Placeholders, runBatch } from '../db/statement.ts'
import { NUMBER_FIELDS } from '../domain/track/location.ts'
import { addArchived, readAcross, selectMonths } from '../locations/store.ts'
import type { TripFix } from './trips.ts'

interface FixQuery extends DeviceRef {
  from: number
  to: number
  limit: number
}

const scaled = <T extends number | null>(name: 'latitude' | 'longitude' | 'speed' | 'accuracy') =>
  sql<T>`${locations[name]} / ${sql.raw(NUMBER_FIELDS[name].scale.toFixed(1))}`

const selectFixes = compile((p: Placeholders<FixQuery>) =>
  select(
    {
      time: locations.time,
      latitude: scaled<number>('latitude'),
      longitude: scaled<number>('longitude'),
      speed: scaled<number | null>('speed'),
      accuracy: scaled<number | null>('accuracy'),
    },
    sql`FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
      WHERE ${isVisibleDevice(p)} AND ${locations.time} BETWEEN ${p.from} AND ${p.to}
      ORDER BY ${locations.time} LIMIT ${p.limit}`,
  ),
)

const unscale = <T extends number | null>(value: T, name: 'latitude' | 'speed' | 'accuracy') =>
  (value === null ? null : value / NUMBER_FIELDS[name].scale) as T

const toTripFix = ({ time, latitude, longitude, speed, accuracy }: LocationRow): TripFix => ({
  time,
  latitude: unscale(latitude, 'latitude'),
  longitude: unscale(longitude, 'latitude'),
  speed: unscale(speed, 'speed'),
  accuracy: unscale(accuracy, 'accuracy'),
})

const selectTimeZone = compile((p: Placeholders<DeviceRef>) =>
  select(
    { timeZone: accounts.timeZone },
    sql`FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
      WHERE ${isVisibleDevice(p)}`,
  ),
)

/** The first fixes of a span with the account's zone; null when the viewer sees no such device. */
export const readFirstFixes = async (
  db: Database,
  query: FixQuery,
): Promise<{ timeZone: string; fixes: TripFix[] } | null> => {
  const { found, fixes, months } = await runBatch(db, {
    found: selectTimeZone(db, query),
    fixes: selectFixes(db, query),
    months: selectMonths(db, query),
  })
  const [row] = found.results
  if (!row) return null
  const own = { rows: fixes.results, isCut: fixes.results.length >= query.limit, toRow: toTripFix }
  return { ...row, fixes: await addArchived(db, query, months?.results, own) }
}

export const readFixes = (db: Database, query: FixQuery): Promise<TripFix[]> =>
  readAcross(db, query, selectFixes(db, query), toTripFix)
