import type { SQL } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { packedBytes } from '../db/queries/locations.ts'
import type { Viewer } from '../db/queries/visibility.ts'
import { readAll, type Statement } from '../db/statement.ts'
import { keptSince } from '../domain/account/account.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { fold } from '../domain/text/fold.ts'
import type { Location } from '../domain/track/location.ts'
import { judgeMixed } from '../rules/evaluate/mixedRules.ts'
import { nameOf, type PackedReport, packReport, writeReport } from './mixedBatch.ts'
import { findStatuses, type MixedStatus } from './mixedOutcome.ts'
import { type NamedDevice, type StateRow, selectDevices } from './mixedStatements.ts'
import { type AssumedState, MAX_PACKED_LENGTH, MAX_RACES, MAX_RETRIES } from './report.ts'
import { takeTurn } from './reportTurn.ts'

/** The locations of one device, which is named by its id or its identifier. */
export interface DeviceReport {
  deviceId: string | null
  identifier: string | null
  eventId: string
  /** May be empty: then only the device's `lastContact` moves. */
  locations: Location[]
}

export interface MixedReport {
  viewer: Viewer
  reports: DeviceReport[]
  /** The alerts that come with it, by the account's settings for emergencies; null without any. */
  raisesBy: ((emergency: string | null) => Promise<PendingRaise[]>) | null
  /** Holds back locations that may need a higher speed than the device's `maxSpeed`. */
  isJudged: boolean
  assumed: AssumedState
  /** The service's public origin, for the messages of alerts. */
  origin: string
  now: number
  /**
   * Further statements of the batch. Each must have the condition it is given: false when the report
   * has to run again.
   */
  alsoRun?: (isStored: SQL) => Statement[]
}

export type MixedOutcome =
  | {
      ok: true
      /** Of each report, the status of each of its locations. */
      statuses: MixedStatus[][]
      /** The devices that were found, with the positions of their reports. */
      devices: NamedDevice[]
      counts: { accepted: number }
      storedBytes: number
      /** Stored, and still to be handed to the ledger. */
      raises: PendingRaise[]
      /** What rules have found: stored, and handed to the ledger after the reply. */
      hits: PendingRaise[]
      actual: AssumedState
    }
  | { ok: false; refusal: 'body-too-large' | 'unavailable' | 'account-not-found' }

/** The devices that some names are of, with the positions of the names. */
export const findNamedDevices = (
  db: Database,
  { accountId, groupId }: Viewer,
  named: Pick<DeviceReport, 'deviceId' | 'identifier'>[],
): Promise<NamedDevice[]> =>
  readAll(selectDevices(db, { accountId, groupId, refs: JSON.stringify(named.map(nameOf)) }))

const toActual = (state: StateRow): AssumedState => ({
  timeZone: state.time_zone,
  hasSubscribers: state.subscribed === 1,
  emergency: state.emergency,
  rulesVersion: state.rules_version,
})

const isAsAssumed = (report: MixedReport, assumed: AssumedState, actual: AssumedState): boolean =>
  actual.timeZone === assumed.timeZone &&
  actual.hasSubscribers === assumed.hasSubscribers &&
  actual.rulesVersion === assumed.rulesVersion &&
  (!report.raisesBy || actual.emergency === assumed.emergency)

const storePacked = async (
  db: Database,
  report: MixedReport,
  base: PackedReport,
): Promise<MixedOutcome> => {
  const { viewer, isJudged, origin, now } = report
  const names = report.reports.map(nameOf)
  let { assumed } = report
  let races = 0
  for (let retries = 0; retries <= MAX_RETRIES + races; retries++) {
    const { rulesVersion, timeZone } = assumed
    const judging =
      rulesVersion === null
        ? { judged: null }
        : await judgeMixed(db, {
            viewer,
            reports: names.map((name, at) => ({ name, rows: base.packed[at] ?? [] })),
            isJudged,
            rulesVersion,
            timeZone,
            origin,
            now,
            isRetry: retries > 0,
          })
    if ('rulesVersion' in judging) {
      assumed = { ...assumed, rulesVersion: judging.rulesVersion }
      continue
    }
    const { judged } = judging
    const raises = (await report.raisesBy?.(assumed.emergency)) ?? []
    const { state, ...written } = await writeReport(db, report, base, { assumed, raises, judged })
    if (!state) return { ok: false, refusal: 'account-not-found' }
    const actual = toActual(state)
    if (!isAsAssumed(report, assumed, actual)) {
      assumed = actual
      continue
    }
    const { accepted, found } = written
    if (judged && accepted === 0 && (judged.news || !judged.isSame(found, state))) {
      // Another report of one of the devices was stored since the tracks were read.
      races = Math.min(races + 1, MAX_RACES)
      judged.forget()
      continue
    }
    judged?.remember()
    const rows = base.packed.flat()
    const since = keptSince(now, state.retention_days)
    return {
      ok: true,
      statuses: await findStatuses(db, report, { ...written, state }),
      devices: found,
      counts: { accepted },
      storedBytes: rows.length && Math.round((accepted / rows.length) * packedBytes(rows)),
      raises: raises.filter(({ alert }) => alert.dateTime >= since),
      hits: judged?.hits ?? [],
      actual,
    }
  }
  return { ok: false, refusal: 'unavailable' }
}

/** Stores a report of many devices in one round trip, as `storeReport` does for one device. */
export const storeMixedReport = async (
  db: Database,
  report: MixedReport,
): Promise<MixedOutcome> => {
  const base = packReport(report)
  if (base.rows.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  const store = () => storePacked(db, report, base)
  if (report.assumed.rulesVersion === null) return store()
  const names = report.reports.map(({ deviceId, identifier }) => deviceId ?? fold(identifier ?? ''))
  return takeTurn(names, store)
}
