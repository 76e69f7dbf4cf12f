import { packedBytes, packLocation, unpackLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { packRaises } from '../db/pendingRaises.ts'
import { runBatch, type Statement } from '../db/statement.ts'
import type { DeviceRef } from '../db/visibility.ts'
import { keptSince } from '../domain/account.ts'
import { localDay } from '../domain/day.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import type { Location, StoredLocation } from '../domain/location.ts'
import type { PendingRaise } from '../domain/pendingRaise.ts'
import { mayCarryEmergency } from '../domain/reportedEmergency.ts'
import { appendReportEvent } from './reportEvent.ts'
import { countOutcome, type ReportCounts } from './reportOutcome.ts'
import { raisesOf } from './reportRaises.ts'
import {
  insertLocations,
  insertRaises,
  type ReportValues,
  type StateRow,
  selectReportState,
  updateLastContact,
} from './reportStatements.ts'

/** What a report assumes of its account. The report's own statements check it. */
export interface AssumedState {
  timeZone: string
  /** Someone wants `location.reported`. */
  hasSubscribers: boolean
  /** The account's settings for emergencies, as they are stored. Only some reports need them. */
  emergency: string | null
}

export const INITIAL_STATE: AssumedState = {
  timeZone: 'UTC',
  hasSubscribers: false,
  emergency: null,
}

export interface Report {
  device: DeviceRef
  locations: Location[]
  /** The id of the report's event, if one is logged. */
  eventId: string
  assumed: AssumedState
  /** The service's public origin, for the messages of an emergency. */
  origin: string
  now: number
}

/**
 * `actual` is the account's state as the report found it. `raises` are the emergencies that it
 * carries: stored, and still to be handed to the ledger.
 */
export type ReportOutcome =
  | {
      ok: true
      counts: ReportCounts
      /** An estimate of what the accepted locations take. */
      storedBytes: number
      stored: StoredLocation | null
      actual: AssumedState
      raises: PendingRaise[]
    }
  | { ok: false; refusal: 'device-not-found' | 'body-too-large' | 'unavailable' }
  | { ok: false; refusal: 'device-expired'; actual: AssumedState; raises: PendingRaise[] }
  | { ok: false; refusal: 'report-too-old'; actual: AssumedState }

const MAX_RETRIES = 5
const MAX_PACKED_LENGTH = 1_900_000
const LONG_PACKED_LENGTH = 200_000

const oldestOf = (reported: Location[]): number =>
  reported.reduce((oldest, { dateTime }) => Math.min(oldest, dateTime), Number.POSITIVE_INFINITY)

const timesOf = (reported: Location[]): string =>
  JSON.stringify(reported.map(({ dateTime }) => dateTime))

/** One attempt to store a report, with what it assumes. */
interface Attempt {
  assumed: AssumedState
  packed: string
  mayRaise: boolean
  raises: PendingRaise[]
}

const writeReport = async (
  db: Database,
  { device, locations: sent, eventId, now }: Report,
  { assumed, packed, mayRaise, raises }: Attempt,
): Promise<{ accepted: number; state: StateRow | undefined }> => {
  const { timeZone, hasSubscribers, emergency } = assumed
  const values: ReportValues = {
    ...device,
    now,
    timeZone,
    today: localDay(now, timeZone),
    hasSubscribers: hasSubscribers ? 1 : 0,
    packed,
    time: sent.length === 1 ? (sent[0]?.dateTime ?? null) : null,
    oldest: oldestOf(sent),
    mayRaise: mayRaise ? 1 : 0,
    emergency,
    raises: packRaises(raises),
  }
  const statements: Statement[] = [
    insertLocations(db, values),
    ...(hasSubscribers
      ? appendReportEvent(db, { ...device, eventId, times: timesOf(sent), now })
      : []),
    ...(raises.length > 0 ? [insertRaises(db, values)] : []),
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
  // Packing and sending take milliseconds each: other requests get their turn between them.
  if (packed.length > LONG_PACKED_LENGTH) await scheduler.wait(0)
  const mayRaise = mayCarryEmergency(report.locations)
  let { assumed } = report
  for (let retries = 0; ; retries++) {
    const found = mayRaise ? await raisesOf(report, assumed.emergency) : []
    const attempt = { assumed, packed, mayRaise, raises: found }
    const { accepted, state } = await writeReport(db, report, attempt)
    if (!state) return { ok: false, refusal: 'device-not-found' }
    const { ends, day, time_zone: timeZone, emergency } = state
    const actual: AssumedState = { timeZone, hasSubscribers: state.subscribed === 1, emergency }
    const isZoneIrrelevant = ends === null || ends <= day
    const isAsAssumed =
      actual.hasSubscribers === assumed.hasSubscribers &&
      (isZoneIrrelevant || timeZone === assumed.timeZone) &&
      (!mayRaise || emergency === assumed.emergency)
    if (!isAsAssumed) {
      if (retries === MAX_RETRIES) return { ok: false, refusal: 'unavailable' }
      assumed = actual
      continue
    }
    const since = keptSince(now, state.retention_days)
    const raises = found.filter(({ alert }) => alert.dateTime >= since)
    if (hasEnded(ends, currentDay({ day, timeZone }, now)))
      return { ok: false, refusal: 'device-expired', actual, raises }
    const counts = await countOutcome(db, {
      device: report.device,
      locations: report.locations,
      packed,
      now,
      keptSince: since,
      accepted,
    })
    if (counts.tooOld === report.locations.length)
      return { ok: false, refusal: 'report-too-old', actual }
    const stored = state.time === null ? null : unpackLocation(state)
    const storedBytes = Math.round((accepted / rows.length) * packedBytes(rows))
    return { ok: true, counts, storedBytes, stored, actual, raises }
  }
}
