import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { isSubscribedToLocations } from '../db/queries/events.ts'
import { PACKED_COLUMNS } from '../db/queries/locations.ts'
import { isVisible, type Viewer } from '../db/queries/visibility.ts'
import { accounts, devices, locations, pendingRaises } from '../db/schema.ts'
import { commaSeparated, compile, literal, names, placeholders } from '../db/statement.ts'
import type { Day } from '../domain/time/day.ts'
import { devicesOf, SENT, SENT_AT, SENT_REPORT, sentRows } from './mixedDevices.ts'
import { isActive, isAsAssumed, isAsJudged, isNewsStored } from './mixedGuard.ts'
import { compareWithStored, type StoredRow } from './reportOutcome.ts'

/* The statements of a report of many devices: those of `reportStatements`, for a list at once. */

export interface MixedValues extends Viewer {
  now: number
  timeZone: string
  today: Day
  hasSubscribers: 0 | 1
  /** `[deviceId, identifierKey, eventId]` of each report. */
  refs: string
  /** The packed locations of all reports, each with the positions of its report and in it. */
  rows: string
  oldest: number
  /** 1 to leave out what may need a higher speed than the device's `maxSpeed`. */
  isJudged: 0 | 1
  mayRaise: 0 | 1
  emergency: string | null
  raises: string
  /** The token of the account's rules; null for none. */
  rulesVersion: string | null
  /** What the report was judged by, if it was: see `JudgedMixed`. */
  window: string | null
  expected: string | null
  found: number
  retentionDays: number | null
  /** A location that must be new; null if none is expected. */
  newKey: number | null
  newTime: number | null
}

const p = placeholders(
  'accountId',
  'groupId',
  'now',
  'timeZone',
  'today',
  'hasSubscribers',
  'refs',
  'rows',
  'oldest',
  'isJudged',
  'mayRaise',
  'emergency',
  'raises',
  'rulesVersion',
  'window',
  'expected',
  'found',
  'retentionDays',
  'newKey',
  'newTime',
)

const HAS_SUBSCRIBERS = isSubscribedToLocations(p.accountId, p.now)
const IS_AS_ASSUMED = isAsAssumed(p)
const IS_ACTIVE = isActive(p)
const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`

const near = alias(locations, 'near')
const other = alias(locations, 'other')

/** Kilometres of one unit of a stored coordinate, along a meridian. */
const KM_PER_UNIT = 111.32 / 1e7

/** At most the true distance of a degree is taken, so a fix in doubt is never let through. */
const isTooFast = (neighbour: SQL): SQL => sql`EXISTS (SELECT 1 FROM ${locations} ${near}
  WHERE ${near.deviceKey} = found.key AND ${near.time} = ${neighbour}
    AND (abs(${near.latitude} - ${SENT} ->> 1) + abs(${near.longitude} - ${SENT} ->> 2))
      * ${literal(KM_PER_UNIT)} > found.max_speed * abs(${near.time} - ${SENT} ->> 0) / 3600000.0)`

const BEFORE = sql`(SELECT max(${other.time}) FROM ${locations} ${other}
  WHERE ${other.deviceKey} = found.key AND ${other.time} < ${SENT} ->> 0)`
const AFTER = sql`(SELECT min(${other.time}) FROM ${locations} ${other}
  WHERE ${other.deviceKey} = found.key AND ${other.time} > ${SENT} ->> 0)`

/** A quick check that lets through most fixes; what it leaves out is judged exactly. */
const IS_CREDIBLE = sql`(${p.isJudged} = 0 OR found.max_speed = 0
  OR NOT (${isTooFast(BEFORE)} OR ${isTooFast(AFTER)}))`

/** Stores the locations of active devices: `ofReport` is asked once, `ofLocation` for each. */
const insertIf = (ofReport: SQL, ofLocation: SQL): SQL =>
  sql`WITH found AS MATERIALIZED (SELECT sent.key AS report, ${devices.key} AS key,
      ${devices.maxSpeed} AS max_speed, ${KEPT_SINCE} AS kept_since
    FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.refs}`)}
    WHERE ${accounts.id} = ${p.accountId} AND ${IS_AS_ASSUMED} AND ${IS_ACTIVE} AND ${ofReport})
  INSERT INTO ${locations} (${names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)})
    SELECT found.key, ${p.now},
      ${commaSeparated(PACKED_COLUMNS.map((_, index) => sql`${SENT} ->> ${literal(index)}`))}
    FROM ${sentRows(p.rows)} CROSS JOIN found ON found.report = ${SENT_REPORT}
    WHERE (${p.oldest} >= found.kept_since OR ${SENT} ->> 0 >= found.kept_since) AND ${ofLocation}
    ON CONFLICT DO NOTHING`

export const insertLocations = compile<MixedValues>(insertIf(sql`true`, IS_CREDIBLE))

/** For a report that rules were applied to: all of it is stored, or nothing. */
export const insertJudgedLocations = compile<MixedValues>(insertIf(isAsJudged(p), sql`true`))

const RAISE_COLUMNS = names(
  pendingRaises.id,
  pendingRaises.accountId,
  pendingRaises.creation,
  pendingRaises.raise,
)

/** Stores the alerts of the report: also of expired devices, and when the locations are known. */
export const insertRaises = compile<MixedValues>(
  sql`INSERT INTO ${pendingRaises} (${RAISE_COLUMNS})
    SELECT sent.value ->> '$.alert.id', ${accounts.id}, ${p.now}, sent.value
    FROM ${accounts} CROSS JOIN json_each(${p.raises}) sent
    CROSS JOIN ${devices} ON ${devices.id} = sent.value ->> '$.deviceId'
      AND ${devices.accountId} = ${p.accountId} AND ${isVisible(devices.key, p.groupId)}
    WHERE ${accounts.id} = ${p.accountId} AND ${IS_AS_ASSUMED}
      AND sent.value ->> '$.alert.dateTime' >= ${KEPT_SINCE}
    ON CONFLICT DO NOTHING`,
)

const LAST_RECEIVED = sql`(SELECT ${locations.receivedAt} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1)`

/** Writes only where the last location does not show this arrival: late, repeated or refused. */
export const updateLastContact = compile<MixedValues>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = ${p.now}
    WHERE ${names(devices.key)} IN (SELECT ${devices.key}
      FROM ${accounts} CROSS JOIN ${devicesOf(sql`${p.refs}`)}
      WHERE ${accounts.id} = ${p.accountId} AND ${IS_AS_ASSUMED} AND ${isNewsStored(p)}
        AND ifnull(${devices.lastContact}, 0) < ${p.now} AND ifnull(${LAST_RECEIVED}, 0) < ${p.now})`,
)

export interface StateRow {
  day: Day
  time_zone: string
  retention_days: number
  emergency: string | null
  rules_version: string | null
  subscribed: number
}

export const selectState = compile<MixedValues, StateRow>(
  sql`SELECT ${accounts.day}, ${accounts.timeZone}, ${accounts.retentionDays},
      ${accounts.emergency}, ${accounts.rulesVersion}, ${HAS_SUBSCRIBERS} AS subscribed
    FROM ${accounts} WHERE ${accounts.id} = ${p.accountId}`,
)

export interface NamedDevice {
  /** The position of its report. */
  report: number
  key: number
  id: string
  ends: Day | null
  source_id: string | null
}

export const selectDevices = compile<Pick<MixedValues, 'refs' | keyof Viewer>, NamedDevice>(
  sql`SELECT sent.key AS report, ${devices.key} AS key, ${devices.id} AS id, ${devices.ends} AS ends,
      ${devices.sourceId} AS source_id
    FROM ${devicesOf(sql`${p.refs}`)}`,
)

export const selectStored = compile<MixedValues, StoredRow & { report: number; at: number }>(
  sql`WITH found AS MATERIALIZED (SELECT sent.key AS report, ${devices.key} AS key
      FROM ${devicesOf(sql`${p.refs}`)})
    SELECT ${SENT_REPORT} AS report, ${SENT_AT} AS at, ${compareWithStored(SENT)}
    FROM ${sentRows(p.rows)} CROSS JOIN found ON found.report = ${SENT_REPORT}
    CROSS JOIN ${locations}
      ON ${locations.deviceKey} = found.key AND ${locations.time} = ${SENT} ->> 0`,
)
