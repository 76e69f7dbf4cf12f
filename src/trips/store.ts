import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { type DeviceRef, isVisibleDevice } from '../db/queries/visibility.ts'
import { select } from '../db/query.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { compile, type Placeholders, readAll, runBatch } from '../db/statement.ts'
import { NUMBER_FIELDS } from '../domain/track/location.ts'
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
  const { found, fixes } = await runBatch(db, {
    found: selectTimeZone(db, query),
    fixes: selectFixes(db, query),
  })
  const [row] = found.results
  return row ? { ...row, fixes: fixes.results } : null
}

export const readFixes = (db: Database, query: FixQuery): Promise<TripFix[]> =>
  readAll(selectFixes(db, query))
