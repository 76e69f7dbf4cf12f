import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { compile, placeholders, readAll, runBatch } from '../db/statement.ts'
import { NUMBER_FIELDS } from '../domain/track/location.ts'
import type { TripFix } from './trips.ts'

export interface FixQuery extends DeviceRef {
  from: number
  to: number
  limit: number
}

type Row = TripFix

const p = placeholders('from', 'to', 'limit')
const scaled = (name: 'latitude' | 'longitude' | 'speed' | 'accuracy') =>
  sql`${locations[name]} / ${sql.raw(NUMBER_FIELDS[name].scale.toFixed(1))} AS ${sql.identifier(name)}`

const selectFixes = compile<FixQuery, Row>(
  sql`SELECT ${locations.time}, ${scaled('latitude')}, ${scaled('longitude')}, ${scaled('speed')},
      ${scaled('accuracy')}
    FROM ${devices} CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
    WHERE ${IS_VISIBLE_DEVICE} AND ${locations.time} BETWEEN ${p.from} AND ${p.to}
    ORDER BY ${locations.time} LIMIT ${p.limit}`,
)

const selectTimeZone = compile<DeviceRef, { time_zone: string }>(
  sql`SELECT ${accounts.timeZone} FROM ${devices}
    JOIN ${accounts} ON ${accounts.id} = ${devices.accountId} WHERE ${IS_VISIBLE_DEVICE}`,
)

/** The first fixes of a span with the account's zone; null when the viewer sees no such device. */
export const readFirstFixes = async (
  db: Database,
  query: FixQuery,
): Promise<{ timeZone: string; fixes: TripFix[] } | null> => {
  const [{ results: found }, { results: fixes }] = await runBatch(db, [
    selectTimeZone(db, query),
    selectFixes(db, query),
  ])
  const [row] = found
  return row ? { timeZone: row.time_zone, fixes } : null
}

export const readFixes = (db: Database, query: FixQuery): Promise<TripFix[]> =>
  readAll(selectFixes(db, query))
