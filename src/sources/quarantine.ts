import { type SQL, sql } from 'drizzle-orm'
import { LOCATION_JSON, PACKED_COLUMNS, packLocation, parseLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { devices, locations, quarantine } from '../db/schema.ts'
import {
  compile,
  literal,
  names,
  placeholders,
  readAll,
  runBatch,
  statement,
  valuesOf,
} from '../db/statement.ts'
import { AGREEING_FIXES, agree, type Neighbours } from '../domain/credible.ts'
import type { Location, StoredLocation } from '../domain/location.ts'
import { MAX_QUARANTINED, type QuarantineReason } from '../domain/source.ts'
import { hexOf } from './bytes.ts'

/* Locations of sources that are kept apart. */

export interface DeviceToJudge {
  key: number
  id: string
  maxSpeed: number
}

interface NeighbourRow {
  at: number
  key: number
  max_speed: number
  before: string | null
  after: string | null
}

const p = placeholders('accountId', 'fixes')

const neighbour = (isBeyond: SQL, order: SQL): SQL =>
  sql`(SELECT ${LOCATION_JSON} FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
    AND ${locations.time} ${isBeyond} sent.value ->> 1 ORDER BY ${locations.time} ${order} LIMIT 1)`

/** `fixes` are `[deviceId, time]`. */
const selectNeighbours = compile<{ accountId: string; fixes: string }, NeighbourRow>(
  sql`SELECT sent.key AS at, ${devices.key} AS key, ${devices.maxSpeed} AS max_speed,
      ${neighbour(sql`<`, sql`DESC`)} AS before, ${neighbour(sql`>`, sql`ASC`)} AS after
    FROM json_each(${p.fixes}) sent
    CROSS JOIN ${devices} ON ${devices.id} = sent.value ->> 0
      AND ${devices.accountId} = ${p.accountId}`,
)

export interface FixToJudge {
  deviceId: string
  location: Location
}

/** The accepted locations next to each fix. Missing for a device that is gone. */
export const readNeighbours = async (
  db: Database,
  accountId: string,
  fixes: FixToJudge[],
): Promise<({ device: DeviceToJudge; neighbours: Neighbours } | undefined)[]> => {
  const named = fixes.map(({ deviceId, location }) => [deviceId, location.dateTime])
  const rows = await readAll(selectNeighbours(db, { accountId, fixes: JSON.stringify(named) }))
  const byFix = new Map(rows.map((row) => [row.at, row]))
  return fixes.map(({ deviceId }, at) => {
    const row = byFix.get(at)
    return (
      row && {
        device: { key: row.key, id: deviceId, maxSpeed: row.max_speed },
        neighbours: { before: parseLocation(row.before), after: parseLocation(row.after) },
      }
    )
  })
}

export interface Quarantined {
  device: DeviceToJudge
  location: Location
  reason: QuarantineReason
}

const idOf = async (deviceKey: number, time: number): Promise<string> => {
  const bytes = new TextEncoder().encode(`quarantine ${deviceKey} ${time}`)
  return `qua_${hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).slice(0, 11))}`
}

const COLUMNS = names(
  quarantine.id,
  quarantine.accountId,
  quarantine.deviceKey,
  quarantine.time,
  quarantine.reason,
  quarantine.receivedAt,
  quarantine.packed,
)

/** Keeps fixes apart, the newest 1,000 of each device. A repeat changes nothing. */
export const quarantineFixes = async (
  db: Database,
  accountId: string,
  fixes: Quarantined[],
  now: number,
): Promise<void> => {
  if (fixes.length === 0) return
  const rows = await Promise.all(
    fixes.map(async ({ device, location, reason }) => [
      await idOf(device.key, location.dateTime),
      device.key,
      location.dateTime,
      reason,
      JSON.stringify(packLocation(location)),
    ]),
  )
  const keys = [...new Set(fixes.map(({ device }) => device.key))]
  const newest = sql`SELECT ${quarantine.id} AS id, row_number() OVER (
      PARTITION BY ${quarantine.deviceKey} ORDER BY ${quarantine.receivedAt} DESC) AS place
    FROM ${quarantine} WHERE ${quarantine.deviceKey} IN ${valuesOf(keys)}`
  await runBatch(db, [
    statement(
      db,
      sql`INSERT INTO ${quarantine} (${COLUMNS})
        SELECT sent.value ->> 0, ${accountId}, sent.value ->> 1, sent.value ->> 2,
          sent.value ->> 3, ${now}, sent.value ->> 4
        FROM json_each(${JSON.stringify(rows)}) sent WHERE true ON CONFLICT DO NOTHING`,
    ),
    statement(
      db,
      sql`DELETE FROM ${quarantine} WHERE ${quarantine.id} IN
        (SELECT id FROM (${newest}) WHERE place > ${literal(MAX_QUARANTINED)})`,
    ),
  ])
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
        ORDER BY ${quarantine.receivedAt} DESC, ${quarantine.time} DESC LIMIT ${AGREEING_FIXES}`,
    ),
  )
  if (rows.length < AGREEING_FIXES || !agree(rows.map(toLocation), maxSpeed)) return []
  return rows.map(({ id }) => id)
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
