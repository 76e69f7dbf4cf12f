import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { LOCATION_JSON, PACKED_COLUMNS, parseLocation } from '../../db/queries/locations.ts'
import { devices, locations, quarantine } from '../../db/schema.ts'
import {
  compile,
  placeholders,
  readAll,
  runBatch,
  statement,
  valuesOf,
} from '../../db/statement.ts'
import type { QuarantineReason } from '../../domain/account/source.ts'
import { AGREEING_FIXES, countAgreeing, type Neighbours } from '../../domain/track/credible.ts'
import type { Location, StoredLocation } from '../../domain/track/location.ts'
import { type DeviceToJudge, type Quarantined, quarantineStatements } from './quarantineInsert.ts'

/* Locations of sources that are kept apart. */

interface NeighbourRow {
  at: number
  key: number
  max_speed: number
  stored: string | null
  before: string | null
  after: string | null
}

const p = placeholders('accountId', 'fixes')

const neighbour = (isBeyond: SQL, order: SQL): SQL =>
  sql`(SELECT ${LOCATION_JSON} FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
    AND ${locations.time} ${isBeyond} sent.value ->> 1 ORDER BY ${locations.time} ${order} LIMIT 1)`

const STORED = sql`(SELECT ${LOCATION_JSON} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} AND ${locations.time} = sent.value ->> 1)`

/** `fixes` are `[deviceId, time]`. */
const selectNeighbours = compile<{ accountId: string; fixes: string }, NeighbourRow>(
  sql`SELECT sent.key AS at, ${devices.key} AS key, ${devices.maxSpeed} AS max_speed, ${STORED} AS stored,
      ${neighbour(sql`<`, sql`DESC`)} AS before, ${neighbour(sql`>`, sql`ASC`)} AS after
    FROM json_each(${p.fixes}) sent
    CROSS JOIN ${devices} ON ${devices.id} = sent.value ->> 0
      AND ${devices.accountId} = ${p.accountId}`,
)

export interface FixToJudge {
  deviceId: string
  location: Location
}

const isSamePlace = (a: Location, b: Location | null): boolean =>
  b !== null && a.latitude === b.latitude && a.longitude === b.longitude

export interface Surroundings {
  device: DeviceToJudge
  /** Whether the fix itself is in the track: accepted before, or released. */
  isStored: boolean
  neighbours: Neighbours
}

/** The accepted locations next to each fix. Missing for a device that is gone. */
export const readNeighbours = async (
  db: Database,
  accountId: string,
  fixes: FixToJudge[],
): Promise<(Surroundings | undefined)[]> => {
  const named = fixes.map(({ deviceId, location }) => [deviceId, location.dateTime])
  const rows = await readAll(selectNeighbours(db, { accountId, fixes: JSON.stringify(named) }))
  const byFix = new Map(rows.map((row) => [row.at, row]))
  return fixes.map(({ deviceId, location }, at) => {
    const row = byFix.get(at)
    return (
      row && {
        device: { key: row.key, id: deviceId, maxSpeed: row.max_speed },
        isStored: isSamePlace(location, parseLocation(row.stored)),
        neighbours: { before: parseLocation(row.before), after: parseLocation(row.after) },
      }
    )
  })
}

export const quarantineFixes = async (
  db: Database,
  accountId: string,
  fixes: Quarantined[],
): Promise<void> => {
  if (fixes.length === 0) return
  await runBatch(db, await quarantineStatements(db, accountId, fixes))
}

interface QuarantineRow {
  id: string
  reason: QuarantineReason
  received_at: number
  packed: string
}

const PACKED_NAMES = PACKED_COLUMNS.map(({ name }) => name)

const toLocation = ({ packed, received_at }: QuarantineRow): StoredLocation => {
  const values = JSON.parse(packed) as unknown[]
  const row = JSON.stringify([...PACKED_NAMES.map((_, at) => values[at]), received_at])
  return parseLocation(row) as StoredLocation
}

/** How many of the newest are looked at. */
const MAX_COMPARED = 100

/** The newest fixes that were too fast, if they agree with each other: the accepted one was wrong. */
export const findAgreeing = async (
  db: Database,
  { key, maxSpeed }: DeviceToJudge,
): Promise<string[]> => {
  const rows = await readAll(
    statement<QuarantineRow>(
      db,
      sql`SELECT * FROM ${quarantine}
        WHERE ${quarantine.deviceKey} = ${key} AND ${quarantine.reason} = 'speed'
        ORDER BY ${quarantine.receivedAt} DESC, ${quarantine.time} DESC LIMIT ${MAX_COMPARED}`,
    ),
  )
  const count = countAgreeing(rows.map(toLocation), maxSpeed)
  return count < AGREEING_FIXES ? [] : rows.slice(0, count).map(({ id }) => id)
}

export const discardFixes = async (
  db: Database,
  deviceKey: number,
  ids: string[],
): Promise<number> => {
  const { meta } = await statement(
    db,
    sql`DELETE FROM ${quarantine}
      WHERE ${quarantine.deviceKey} = ${deviceKey} AND ${quarantine.id} IN ${valuesOf(ids)}`,
  ).run()
  return meta.changes
}

export interface QuarantinedFix {
  id: string
  reason: QuarantineReason
  location: StoredLocation
  receivedAt: number
}

/** Newest arrivals first, those before `before`. */
export const listQuarantine = async (
  db: Database,
  deviceKey: number,
  before: [receivedAt: number, id: string],
  limit: number,
): Promise<QuarantinedFix[]> => {
  const rows = await readAll(
    statement<QuarantineRow>(
      db,
      sql`SELECT * FROM ${quarantine} WHERE ${quarantine.deviceKey} = ${deviceKey}
        AND (${quarantine.receivedAt}, ${quarantine.id}) < (${before[0]}, ${before[1]})
        ORDER BY ${quarantine.receivedAt} DESC, ${quarantine.id} DESC LIMIT ${limit}`,
    ),
  )
  return rows.map((row) => ({
    id: row.id,
    reason: row.reason,
    location: toLocation(row),
    receivedAt: row.received_at,
  }))
}
