import { sql } from 'drizzle-orm'
import { isSubscribedToLocations } from '../db/events.ts'
import {
  LOCATION_COLUMNS,
  type LocationRow,
  PACKED_COLUMNS,
  packedBytes,
  packLocation,
  unpackLocation,
} from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { accounts, devices, locations } from '../db/schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  placeholders,
  runBatch,
  type Statement,
} from '../db/statement.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE } from '../db/visibility.ts'
import { keptSince } from '../domain/account.ts'
import { type Day, localDay } from '../domain/day.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import type { Location, StoredLocation } from '../domain/location.ts'
import { appendReportEvent } from './reportEvent.ts'
import { countOutcome, type ReportCounts } from './reportOutcome.ts'

/** What a report assumes of its account. The report's own statements check it. */
export interface AssumedState {
  timeZone: string
  /** Someone wants `location.reported`. */
  hasSubscribers: boolean
}

export const INITIAL_STATE: AssumedState = { timeZone: 'UTC', hasSubscribers: false }

export interface Report {
  device: DeviceRef
  locations: Location[]
  /** The id of the report's event, if one is logged. */
  eventId: string
  assumed: AssumedState
  now: number
}

/** `actual` is the account's state as the report found it. */
export type ReportOutcome =
  | {
      ok: true
      counts: ReportCounts
      /** An estimate of what the accepted locations take. */
      storedBytes: number
      stored: StoredLocation | null
      actual: AssumedState
    }
  | { ok: false; refusal: 'device-not-found' | 'body-too-large' | 'unavailable' }
  | { ok: false; refusal: 'device-expired' | 'report-too-old'; actual: AssumedState }

interface ReportValues extends DeviceRef {
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
)

/** A device without an end is active in any zone; else `today` must be of the account's zone. */
const IS_ACTIVE = sql`(${devices.ends} IS NULL OR (${devices.ends} > ${accounts.day}
  AND ${accounts.timeZone} = ${p.timeZone} AND ${devices.ends} > ${p.today}))`

/** The same as `keptSince`. */
const KEPT_SINCE = sql`(${p.now} - ${accounts.retentionDays} * 86400000)`
/** Looks into single locations only when the oldest is too old. */
const IS_KEPT = sql`(${p.oldest} >= ${KEPT_SINCE} OR value ->> 0 >= ${KEPT_SINCE})`

const HAS_SUBSCRIBERS = isSubscribedToLocations(p.accountId, p.now)

const INSERTED_COLUMNS = names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)

const insertLocations = compile<ReportValues>(
  sql`INSERT INTO ${locations} (${INSERTED_COLUMNS})
    SELECT ${devices.key}, ${p.now},
      ${commaSeparated(PACKED_COLUMNS.map((_, index) => sql`value ->> ${literal(index)}`))}
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    CROSS JOIN json_each(${p.packed})
    WHERE ${IS_VISIBLE_DEVICE} AND ${IS_ACTIVE} AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers}
      AND ${IS_KEPT}
    ON CONFLICT DO NOTHING`,
)

const LAST_RECEIVED = sql`(SELECT ${locations.receivedAt} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1)`

/** Writes only when the last location does not show this arrival: late, repeated or refused. */
const updateLastContact = compile<ReportValues>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = ${p.now}
    WHERE ${IS_VISIBLE_DEVICE} AND ifnull(${devices.lastContact}, 0) < ${p.now}
      AND (${devices.ends} IS NULL OR EXISTS (SELECT 1 FROM ${accounts}
        WHERE ${accounts.id} = ${p.accountId}
          AND (${devices.ends} <= ${accounts.day} OR ${accounts.timeZone} = ${p.timeZone})))
      AND ifnull(${LAST_RECEIVED}, 0) < ${p.now} AND ${HAS_SUBSCRIBERS} = ${p.hasSubscribers}`,
)

type StateRow = {
  ends: Day | null
  day: Day
  time_zone: string
  retention_days: number
  subscribed: number
} & (LocationRow | { time: null })

/** Tells why nothing was stored, if nothing was, and reads the location of a report of one. */
const selectReportState = compile<ReportValues, StateRow>(
  sql`SELECT ${devices.ends}, ${accounts.day}, ${accounts.timeZone}, ${accounts.retentionDays},
      ${HAS_SUBSCRIBERS} AS subscribed, ${LOCATION_COLUMNS}
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    LEFT JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${p.time}
    WHERE ${IS_VISIBLE_DEVICE}`,
)

export const MAX_RETRIES = 5
export const MAX_PACKED_LENGTH = 1_900_000

export const oldestOf = (reported: readonly Location[]): number =>
  reported.reduce((oldest, { dateTime }) => Math.min(oldest, dateTime), Number.POSITIVE_INFINITY)

const writeReport = async (
  db: Database,
  { device, locations: sent, eventId, now }: Report,
  { timeZone, hasSubscribers }: AssumedState,
  packed: string,
): Promise<{ accepted: number; state: StateRow | undefined }> => {
  const values: ReportValues = {
    ...device,
    now,
    timeZone,
    today: localDay(now, timeZone),
    hasSubscribers: hasSubscribers ? 1 : 0,
    packed,
    time: sent.length === 1 ? (sent[0]?.dateTime ?? null) : null,
    oldest: oldestOf(sent),
  }
  const statements: Statement[] = [
    insertLocations(db, values),
    ...(hasSubscribers ? appendReportEvent(db, { ...device, eventId, packed, now }) : []),
    updateLastContact(db, values),
    selectReportState(db, values),
  ]
  const results = await runBatch(db, statements)
  return {
    accepted: results[0]?.meta.changes ?? 0,
    state: results.at(-1)?.results[0] as StateRow | undefined,
  }
}

/**
 * Stores a report in one round trip: a row for each location, and an event if someone wants it. When
 * the assumed state is wrong, nothing is stored and the report runs again with the actual one.
 */
export const storeReport = async (db: Database, report: Report): Promise<ReportOutcome> => {
  const { now } = report
  const rows = report.locations.map(packLocation)
  const packed = JSON.stringify(rows)
  // Numbers such as 1e20 are written out: a body of 1 MiB may grow beyond what D1 binds as one value.
  if (packed.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  let { assumed } = report
  for (let retries = 0; ; retries++) {
    const { accepted, state } = await writeReport(db, report, assumed, packed)
    if (!state) return { ok: false, refusal: 'device-not-found' }
    const { ends, day, time_zone: timeZone } = state
    const actual: AssumedState = { timeZone, hasSubscribers: state.subscribed === 1 }
    const isZoneIrrelevant = ends === null || ends <= day
    const isAsAssumed =
      actual.hasSubscribers === assumed.hasSubscribers &&
      (isZoneIrrelevant || timeZone === assumed.timeZone)
    if (!isAsAssumed) {
      if (retries === MAX_RETRIES) return { ok: false, refusal: 'unavailable' }
      assumed = actual
      continue
    }
    if (hasEnded(ends, currentDay({ day, timeZone }, now)))
      return { ok: false, refusal: 'device-expired', actual }
    const counts = await countOutcome(db, {
      device: report.device,
      locations: report.locations,
      packed,
      now,
      keptSince: keptSince(now, state.retention_days),
      accepted,
    })
    if (counts.tooOld === report.locations.length)
      return { ok: false, refusal: 'report-too-old', actual }
    const stored = state.time === null ? null : unpackLocation(state)
    const storedBytes = Math.round((accepted / rows.length) * packedBytes(rows))
    return { ok: true, counts, storedBytes, stored, actual }
  }
}
