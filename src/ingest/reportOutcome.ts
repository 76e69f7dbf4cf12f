import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { PACKED_COLUMNS, packLocation, REST_INDEX } from '../db/queries/locations.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { devices, locations } from '../db/schema.ts'
import { compile, literal, placeholders, readAll } from '../db/statement.ts'
import { sameJson } from '../domain/text/json.ts'
import { type Location, MAX_REJECTIONS, type Rejection } from '../domain/track/location.ts'

/*
 * What became of each location of a report. The stored locations are read only when some of the
 * report were neither accepted nor too old.
 */

/** The four counts add up to the number of locations that were sent. */
export interface ReportCounts {
  accepted: number
  /** The device has the same location already. */
  duplicates: number
  /** The device has another location with the same `dateTime`, which stays. */
  conflicts: number
  tooOld: number
  /** The first locations that were not accepted; absent when all were. */
  results?: { index: number; status: Rejection }[]
}

/** A report after its INSERT. */
export interface WrittenReport {
  device: DeviceRef
  locations: Location[]
  /** The report, as its INSERT took it. */
  packed: string
  now: number
  /** Locations before this time were not stored. */
  keptSince: number
  accepted: number
}

export interface StoredRow {
  /** Whether the stored location arrived at the time of this report. */
  is_new: 0 | 1
  differs: 0 | 1
  /** The stored `rest` when only its text differs: the order of members does not matter. */
  rest: string | null
}

const p = placeholders('packed', 'now')

/**
 * The columns of `StoredRow`: compares a packed location, which is the SQL value `sent`, with the
 * stored one. Equal JSON has the same length in any order of members, so no more text is read than
 * was sent.
 */
export const compareWithStored = (sent: SQL): SQL => {
  const member = (index: number) => sql`${sent} ->> ${literal(index)}`
  const rest = member(REST_INDEX)
  const isEqual = sql.join(
    PACKED_COLUMNS.slice(1, REST_INDEX).map((column, at) => sql`${column} IS ${member(at + 1)}`),
    sql` AND `,
  )
  return sql`${locations.receivedAt} = ${p.now} AS is_new,
    NOT (${isEqual} AND length(${locations.rest}) IS length(${rest})) AS differs,
    CASE WHEN length(${locations.rest}) = length(${rest})
      AND ${locations.rest} <> ${rest} THEN ${locations.rest} END AS rest`
}

const SENT = sql`sent.value`

const selectStored = compile<
  DeviceRef & { packed: string; now: number },
  StoredRow & { index: number }
>(
  sql`SELECT sent.key AS "index", ${compareWithStored(SENT)}
    FROM ${devices} CROSS JOIN json_each(${p.packed}) sent
    CROSS JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${SENT} ->> 0
    WHERE ${IS_VISIBLE_DEVICE}`,
)

const isConflict = ({ differs, rest }: StoredRow, location: Location): boolean => {
  if (differs === 1) return true
  if (rest === null) return false
  const sentRest = packLocation(location)[REST_INDEX]
  return !sameJson(JSON.parse(rest), JSON.parse(String(sentRest)))
}

const readStored = async (db: Database, report: WrittenReport): Promise<Map<number, StoredRow>> => {
  const { device, packed, now } = report
  const rows = await readAll(selectStored(db, { ...device, packed, now }))
  return new Map(rows.map((row) => [row.index, row]))
}

/** A location that an INSERT was to store, with the key of its device. */
export interface SentLocation {
  deviceKey: number
  location: Location
}

interface Written {
  sent: SentLocation[]
  keptSince: number
  /** How many of them the INSERT stored. */
  accepted: number
}

/**
 * An accepted location equals the stored one, so a conflict is never one of the accepted. Of several
 * that equal it, at most one was accepted, and only if it is stored as of this report.
 */
export const statusesOf = (
  { sent, keptSince, accepted }: Written,
  stored: Map<number, StoredRow>,
): (Rejection | 'accepted')[] => {
  const acceptedTimes = new Set<string>()
  return sent.map(({ deviceKey, location }, index) => {
    const { dateTime } = location
    if (dateTime < keptSince) return 'tooOld'
    const row = stored.get(index)
    if (row && isConflict(row, location)) return 'conflict'
    const time = `${deviceKey} ${dateTime}`
    const isTaken = acceptedTimes.size === accepted || acceptedTimes.has(time)
    if (isTaken || row?.is_new === 0) return 'duplicate'
    acceptedTimes.add(time)
    return 'accepted'
  })
}

const countTooOld = ({ locations: reported, keptSince }: WrittenReport): number =>
  reported.reduce((count, { dateTime }) => (dateTime < keptSince ? count + 1 : count), 0)

export const countOutcome = async (db: Database, report: WrittenReport): Promise<ReportCounts> => {
  const { locations: reported, accepted, keptSince } = report
  if (accepted === reported.length) return { accepted, duplicates: 0, conflicts: 0, tooOld: 0 }
  const tooOld = countTooOld(report)
  const hasRepeats = accepted + tooOld < reported.length
  const sent = reported.map((location) => ({ deviceKey: 0, location }))
  const stored = hasRepeats ? await readStored(db, report) : new Map()
  const results = statusesOf({ sent, keptSince, accepted }, stored).flatMap((status, index) =>
    status === 'accepted' ? [] : [{ index, status }],
  )
  const conflicts = results.filter(({ status }) => status === 'conflict').length
  const duplicates = reported.length - accepted - tooOld - conflicts
  return { accepted, duplicates, conflicts, tooOld, results: results.slice(0, MAX_REJECTIONS) }
}
