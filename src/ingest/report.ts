import type { Database } from '../db/open.ts'
import {
  type PackedLocation,
  packedBytes,
  packLocation,
  unpackLocation,
} from '../db/queries/locations.ts'
import { insertHits, packRaises } from '../db/queries/pendingRaises.ts'
import type { DeviceRef } from '../db/queries/visibility.ts'
import { runBatch, type Statement } from '../db/statement.ts'
import { keptSince } from '../domain/account/account.ts'
import { currentDay, hasEnded } from '../domain/account/license.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { mayCarryEmergency } from '../domain/message/reportedEmergency.ts'
import { localDay } from '../domain/time/day.ts'
import type { Location, StoredLocation } from '../domain/track/location.ts'
import { forgetDevice } from '../rules/evaluate/judgeTrack.ts'
import { type JudgedReport, judgeByRules } from '../rules/evaluate/reportRules.ts'
import { appendReportEvent } from './reportEvent.ts'
import { countOutcome, type ReportCounts } from './reportOutcome.ts'
import { raisesOf } from './reportRaises.ts'
import {
  insertJudgedLocations,
  insertLocations,
  insertRaises,
  type ReportValues,
  type StateRow,
  selectReportState,
  updateLastContact,
} from './reportStatements.ts'
import { takeTurn } from './reportTurn.ts'

/** What a report assumes of its account. The report's own statements check it. */
export interface AssumedState {
  timeZone: string
  /** Someone wants `location.reported`. */
  hasSubscribers: boolean
  /** The account's settings for emergencies, as they are stored. Only some reports need them. */
  emergency: string | null
  /** The token of the account's rules for reports; null without any. */
  rulesVersion: string | null
}

export const INITIAL_STATE: AssumedState = {
  timeZone: 'UTC',
  hasSubscribers: false,
  emergency: null,
  rulesVersion: null,
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
      /** What rules have found: stored, and handed to the ledger after the reply. */
      hits: PendingRaise[]
    }
  | { ok: false; refusal: 'device-not-found' | 'body-too-large' | 'unavailable' }
  | { ok: false; refusal: 'device-expired'; actual: AssumedState; raises: PendingRaise[] }
  | { ok: false; refusal: 'report-too-old'; actual: AssumedState }

export const MAX_RETRIES = 5
/** How often a report may lose the race for its device's track. */
export const MAX_RACES = 40
export const MAX_PACKED_LENGTH = 1_900_000
const LONG_PACKED_LENGTH = 200_000

export const oldestOf = (reported: readonly Location[]): number =>
  reported.reduce((oldest, { dateTime }) => Math.min(oldest, dateTime), Number.POSITIVE_INFINITY)

const timesOf = (reported: Location[]): string =>
  JSON.stringify(reported.map(({ dateTime }) => dateTime))

/** One attempt to store a report, with what it assumes. */
interface Attempt {
  assumed: AssumedState
  packed: string
  mayRaise: boolean
  raises: PendingRaise[]
  /** Null when no rule is for the device. */
  judged: JudgedReport | null
}

const writeReport = async (
  db: Database,
  { device, locations: sent, eventId, now }: Report,
  { assumed, packed, mayRaise, raises, judged }: Attempt,
): Promise<{ accepted: number; state: StateRow | undefined }> => {
  const { timeZone, hasSubscribers, emergency, rulesVersion } = assumed
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
    rulesVersion,
    window: judged?.window ?? null,
    retentionDays: judged?.retentionDays ?? null,
    newTime: judged?.newTimes[0] ?? null,
  }
  const statements: Statement[] = [
    judged ? insertJudgedLocations(db, values) : insertLocations(db, values),
    ...insertHits(db, values, judged?.hits ?? []),
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

/** Whether the report must run again because its state was not as assumed. */
const isAsAssumed = (
  { assumed, mayRaise, judged }: Attempt,
  actual: AssumedState,
  { ends, day, retention_days: retentionDays }: StateRow,
): boolean => {
  const isZoneIrrelevant = !judged && (ends === null || ends <= day)
  return (
    (!judged || judged.retentionDays === retentionDays) &&
    actual.hasSubscribers === assumed.hasSubscribers &&
    actual.rulesVersion === assumed.rulesVersion &&
    (isZoneIrrelevant || actual.timeZone === assumed.timeZone) &&
    (!mayRaise || actual.emergency === assumed.emergency)
  )
}

const toActual = (state: StateRow): AssumedState => ({
  timeZone: state.time_zone,
  hasSubscribers: state.subscribed === 1,
  emergency: state.emergency,
  rulesVersion: state.rules_version,
})

/**
 * Stores a report in one round trip: a row for each location, and an event if someone wants it. When
 * the assumed state is wrong, nothing is stored and the report runs again with the actual one.
 */
const storePacked = async (
  db: Database,
  report: Report,
  rows: PackedLocation[],
  packed: string,
): Promise<ReportOutcome> => {
  const { now, device, origin } = report
  const mayRaise = mayCarryEmergency(report.locations)
  let { assumed } = report
  let races = 0
  for (let retries = 0; retries <= MAX_RETRIES + races; retries++) {
    const { rulesVersion, timeZone: zone } = assumed
    const isRetry = retries > 0
    const judging =
      rulesVersion === null
        ? { judged: null }
        : await judgeByRules(db, {
            device,
            rows,
            rulesVersion,
            timeZone: zone,
            origin,
            now,
            isRetry,
          })
    if ('rulesVersion' in judging) {
      assumed = { ...assumed, rulesVersion: judging.rulesVersion }
      continue
    }
    const { judged } = judging
    const found = mayRaise ? await raisesOf(report, assumed.emergency) : []
    const attempt = { assumed, packed, mayRaise, raises: found, judged }
    const { accepted, state } = await writeReport(db, report, attempt)
    if (!state) return { ok: false, refusal: 'device-not-found' }
    const { ends, day, time_zone: timeZone } = state
    const actual = toActual(state)
    if (!isAsAssumed(attempt, actual, state)) {
      assumed = actual
      continue
    }
    const since = keptSince(now, state.retention_days)
    const raises = found.filter(({ alert }) => alert.dateTime >= since)
    if (hasEnded(ends, currentDay({ day, timeZone }, now)))
      return { ok: false, refusal: 'device-expired', actual, raises }
    if (judged && judged.newTimes.length > 0 && accepted === 0) {
      // Another report of the device was stored since the track was read.
      races = Math.min(races + 1, MAX_RACES)
      forgetDevice(device.deviceId)
      continue
    }
    judged?.remember()
    const counts = await countOutcome(db, {
      device,
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
    const hits = judged?.hits ?? []
    return { ok: true, counts, storedBytes, stored, actual, raises, hits }
  }
  return { ok: false, refusal: 'unavailable' }
}

export const storeReport = async (db: Database, report: Report): Promise<ReportOutcome> => {
  const rows = report.locations.map(packLocation)
  const packed = JSON.stringify(rows)
  // Numbers such as 1e20 are written out: a body of 1 MiB may grow beyond what D1 binds as one value.
  if (packed.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  // Packing and sending take milliseconds each: other requests get their turn between them.
  if (packed.length > LONG_PACKED_LENGTH) await scheduler.wait(0)
  const store = () => storePacked(db, report, rows, packed)
  return report.assumed.rulesVersion === null ? store() : takeTurn([report.device.deviceId], store)
}
