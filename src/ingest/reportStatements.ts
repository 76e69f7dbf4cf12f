import { type SQL, sql } from 'drizzle-orm'
import { isSubscribedToLocations } from '../db/queries/events.ts'
import { LOCATION_COLUMNS, type LocationRow, PACKED_COLUMNS } from '../db/queries/locations.ts'
import { insertRaisesIf } from '../db/queries/pendingRaises.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/queries/visibility.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import { commaSeparated, compile, literal, names, placeholders } from '../db/statement.ts'
import type { Day } from '../domain/time/day.ts'

/* The statements of a report. Each has the whole condition: a batch cannot branch. */

export interface ReportValues extends DeviceRef {
  now: number
  timeZone: string
  /** The day in `timeZone`. */
  today: Day
  hasSubscribers: 0 | 1
  packed: string
  /** The time of a report's only location; null for a report of several. */
  time: number | null
  /** The earliest time of the report. */
  oldest: number
  /** Whether the report may carry an emergency, and the settings that decide it. */
  mayRaise: 0 | 1
  emergency: string | null
  raises: string
  /** The token of the rules that the report was judged by; null for none. */
  rulesVersion: string | null
  /** What the report was judged by, if it was; else null. */
  window: string | null
  retentionDays: number | null
  /** The time of one location that must be new; null if none is expected. */
  newTime: number | null
}

const p = placeholders(
  'accountId',
  'now',
  'timeZone',
  'today',
  'hasSubscribers',
  'packed',
  'time',
  'oldest',
  'mayRaise',
  'emergency',
  'rulesVersion',
  'window',
  'retentionDays',
  'newTime',
)

/** A device without an end is active in any zone; else `today` must be of the account's zone. */
const IS_ACTIVE = sql`(${devices.ends} IS NULL OR (${devices.ends} > ${accounts.day}
  AND ${accounts.timeZone} = ${p.timeZone} AND ${devices.ends} > ${p.today}))`

/** The same as `keptSince`. */
const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`
/** Looks into single locations only when the oldest is too old. */
const IS_KEPT = sql`(${p.oldest} >= ${KEPT_SINCE} OR value ->> 0 >= ${KEPT_SINCE})`

const HAS_SUBSCRIBERS = isSubscribedToLocations(p.accountId, p.now)
const IS_EMERGENCY_AS_ASSUMED = sql`(${p.mayRaise} = 0 OR ${accounts.emergency} IS ${p.emergency})`

const INSERTED_COLUMNS = names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)

/**
 * The LIMIT keeps SQLite from merging this into the INSERT, where it would write out each location
 * once for each of its columns: a third of the time of a report of 1000.
 */
const SENT_LOCATIONS = sql`(SELECT value FROM json_each(${p.packed}) LIMIT -1)`

const insertIf = (guard: SQL): SQL =>
  sql`INSERT INTO ${locations} (${INSERTED_COLUMNS})
    SELECT ${devices.key}, ${p.now},
      ${commaSeparated(PACKED_COLUMNS.map((_, index) => sql`value ->> ${literal(index)}`))}
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    CROSS JOIN ${SENT_LOCATIONS}
    WHERE ${IS_VISIBLE_DEVICE} AND ${IS_ACTIVE} AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers}
      AND ${IS_KEPT} AND ${IS_EMERGENCY_AS_ASSUMED}
      AND ${accounts.rulesVersion} IS ${p.rulesVersion} AND ${guard}
    ON CONFLICT DO NOTHING`

export const insertLocations = compile<ReportValues>(insertIf(sql`true`))

/**
 * True while each part of the track that was judged has as many locations as then. Stored ones never
 * change, so the number suffices.
 */
const IS_AS_JUDGED = sql`(${accounts.retentionDays} = ${p.retentionDays}
  AND ${accounts.timeZone} = ${p.timeZone}
  AND NOT EXISTS (SELECT 1 FROM json_each(${p.window}) judged WHERE judged.value ->> 2 <> (
    SELECT count(*) FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
      AND ${locations.time} BETWEEN judged.value ->> 0 AND judged.value ->> 1)))`

/** For a report that rules were applied to. */
export const insertJudgedLocations = compile<ReportValues>(insertIf(IS_AS_JUDGED))

/**
 * Stores the report's emergencies: of an expired device too, and when the locations are known
 * already, since the attempt before may have been interrupted.
 */
export const insertRaises = compile<ReportValues>(
  insertRaisesIf(
    sql`${IS_VISIBLE_DEVICE} AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers}
      AND (${devices.ends} IS NULL OR ${devices.ends} <= ${accounts.day}
        OR ${accounts.timeZone} = ${p.timeZone})
      AND ${accounts.emergency} IS ${p.emergency}
      AND value ->> '$.alert.dateTime' >= ${KEPT_SINCE}`,
  ),
)

const LAST_RECEIVED = sql`(SELECT ${locations.receivedAt} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1)`

/** False when the rules have changed or the race for the track was lost: the report runs again. */
const IS_SETTLED = sql`EXISTS (SELECT 1 FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}
  AND ${accounts.rulesVersion} IS ${p.rulesVersion} AND (${p.newTime} IS NULL OR NOT ${IS_ACTIVE}
    OR EXISTS (SELECT 1 FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
      AND ${locations.time} = ${p.newTime} AND ${locations.receivedAt} = ${p.now})))`

/** Writes only when the last location does not show this arrival: late, repeated or refused. */
export const updateLastContact = compile<ReportValues>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = ${p.now}
    WHERE ${IS_VISIBLE_DEVICE} AND ifnull(${devices.lastContact}, 0) < ${p.now}
      AND (${devices.ends} IS NULL OR EXISTS (SELECT 1 FROM ${accounts}
        WHERE ${accounts.id} = ${p.accountId}
          AND (${devices.ends} <= ${accounts.day} OR ${accounts.timeZone} = ${p.timeZone})))
      AND ifnull(${LAST_RECEIVED}, 0) < ${p.now} AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers}
      AND ${IS_SETTLED}`,
)

export type StateRow = {
  ends: Day | null
  day: Day
  time_zone: string
  retention_days: number
  subscribed: number
  emergency: string | null
  rules_version: string | null
} & (LocationRow | { time: null })

/** Tells why nothing was stored, if nothing was, and reads the location of a report of one. */
export const selectReportState = compile<ReportValues, StateRow>(
  sql`SELECT ${devices.ends}, ${accounts.day}, ${accounts.timeZone}, ${accounts.retentionDays},
      ${accounts.emergency}, ${accounts.rulesVersion}, ${HAS_SUBSCRIBERS} AS subscribed,
      ${LOCATION_COLUMNS}
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    LEFT JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${p.time}
    WHERE ${IS_VISIBLE_DEVICE}`,
)
