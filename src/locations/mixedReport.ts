import { type SQL, sql } from 'drizzle-orm'
import { isSubscribedToLocations } from '../db/events.ts'
import { packedBytes, packLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import { packRaises } from '../db/pendingRaises.ts'
import { accounts } from '../db/schema.ts'
import { readAll, runBatch, type Statement } from '../db/statement.ts'
import type { Viewer } from '../db/visibility.ts'
import { keptSince } from '../domain/account.ts'
import { localDay } from '../domain/day.ts'
import { fold } from '../domain/fold.ts'
import { currentDay, hasEnded } from '../domain/license.ts'
import type { Location, MIXED_REJECTIONS } from '../domain/location.ts'
import type { PendingRaise } from '../domain/pendingRaise.ts'
import { appendMixedEvents } from './mixedEvents.ts'
import {
  insertLocations,
  insertRaises,
  type MixedValues,
  type NamedDevice,
  type StateRow,
  selectDevices,
  selectState,
  selectStored,
  updateLastContact,
} from './mixedStatements.ts'
import { type AssumedState, MAX_PACKED_LENGTH, MAX_RETRIES, oldestOf } from './report.ts'
import { type SentLocation, type StoredRow, statusesOf } from './reportOutcome.ts'

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
  now: number
  /**
   * Further statements of the batch. Each must have the condition it is given: false when the report
   * has to run again.
   */
  alsoRun?: (isStored: SQL) => Statement[]
}

/** `held`: neither stored nor refused yet, since it has to be judged exactly. */
export type MixedStatus = 'accepted' | 'held' | (typeof MIXED_REJECTIONS)[number]

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
      actual: AssumedState
    }
  | { ok: false; refusal: 'body-too-large' | 'unavailable' | 'account-not-found' }

const nameOf = ({ deviceId, identifier }: Pick<DeviceReport, 'deviceId' | 'identifier'>) => [
  deviceId,
  identifier === null ? null : fold(identifier),
]

/** The devices that some names are of, with the positions of the names. */
export const findNamedDevices = (
  db: Database,
  { accountId, groupId }: Viewer,
  named: Pick<DeviceReport, 'deviceId' | 'identifier'>[],
): Promise<NamedDevice[]> =>
  readAll(selectDevices(db, { accountId, groupId, refs: JSON.stringify(named.map(nameOf)) }))

const valuesOf = ({ viewer, reports, isJudged, raisesBy, now }: MixedReport) => {
  const { accountId, groupId } = viewer
  const packed = reports.map(({ locations: reported }) => reported.map(packLocation))
  return {
    accountId,
    groupId,
    now,
    packed,
    refs: JSON.stringify(reports.map((report) => [...nameOf(report), report.eventId])),
    groups: JSON.stringify(reports.map((report, at) => [...nameOf(report), packed[at]])),
    oldest: oldestOf(reports.flatMap((report) => report.locations)),
    isJudged: isJudged ? 1 : 0,
    mayRaise: raisesBy ? 1 : 0,
  } as const
}

interface Written {
  values: MixedValues
  accepted: number
  state: StateRow
  found: NamedDevice[]
}

const isReportStored = (values: MixedValues): SQL => sql`EXISTS (SELECT 1 FROM ${accounts}
  WHERE ${accounts.id} = ${values.accountId} AND ${accounts.timeZone} = ${values.timeZone}
    AND ${isSubscribedToLocations(values.accountId, values.now)} = ${values.hasSubscribers}
    AND (${values.mayRaise} = 0 OR ${accounts.emergency} IS ${values.emergency}))`

const writeReport = async (
  db: Database,
  { alsoRun }: MixedReport,
  { packed, ...base }: ReturnType<typeof valuesOf>,
  { timeZone, hasSubscribers, emergency }: AssumedState,
  raises: PendingRaise[],
): Promise<Omit<Written, 'state'> & { state: StateRow | undefined }> => {
  const values: MixedValues = {
    ...base,
    // An infinite number, of a report without locations, cannot be bound.
    oldest: Math.min(base.oldest, base.now),
    timeZone,
    today: localDay(base.now, timeZone),
    hasSubscribers: hasSubscribers ? 1 : 0,
    emergency,
    raises: packRaises(raises),
  }
  const results = await runBatch(db, [
    insertLocations(db, values),
    ...(hasSubscribers ? appendMixedEvents(db, values) : []),
    ...(raises.length > 0 ? [insertRaises(db, values)] : []),
    updateLastContact(db, values),
    ...(alsoRun?.(isReportStored(values)) ?? []),
    selectState(db, values),
    selectDevices(db, values),
  ])
  return {
    values,
    accepted: results[0]?.meta.changes ?? 0,
    state: results.at(-2)?.results[0] as StateRow | undefined,
    found: (results.at(-1)?.results ?? []) as NamedDevice[],
  }
}

type Placed = SentLocation & { report: number; at: number }

const readStored = async (
  db: Database,
  values: MixedValues,
  sent: Placed[],
): Promise<Map<number, StoredRow>> => {
  const places = new Map(sent.map(({ report, at }, index) => [`${report} ${at}`, index]))
  const stored = new Map<number, StoredRow>()
  for (const row of await readAll(selectStored(db, values))) {
    const index = places.get(`${row.report} ${row.at}`)
    if (index !== undefined) stored.set(index, row)
  }
  return stored
}

/** What became of each location. The stored ones are read only when some were not accepted. */
const findStatuses = async (
  db: Database,
  { reports, now, isJudged }: MixedReport,
  { values, accepted, state, found }: Written,
): Promise<MixedStatus[][]> => {
  const { day, time_zone: timeZone, retention_days: retentionDays } = state
  const today = currentDay({ day, timeZone }, now)
  const byReport = new Map(found.map((device) => [device.report, device]))
  const sent: Placed[] = []
  const statuses = reports.map(({ locations: reported }, report) => {
    const device = byReport.get(report)
    const isActive = device && !hasEnded(device.ends, today)
    if (isActive)
      for (const [at, location] of reported.entries())
        sent.push({ deviceKey: device.key, location, report, at })
    const status = !device ? 'unknown' : isActive ? 'accepted' : 'refused'
    return reported.map((): MixedStatus => status)
  })
  if (sent.length === accepted) return statuses
  const stored = await readStored(db, values, sent)
  const since = keptSince(now, retentionDays)
  const isHeld = (index: number) =>
    isJudged && !stored.has(index) && (sent[index]?.location.dateTime ?? 0) >= since
  const judged = statusesOf({ sent, keptSince: since, accepted }, stored)
  for (const [index, { report, at }] of sent.entries()) {
    const ofReport = statuses[report]
    if (ofReport) ofReport[at] = isHeld(index) ? 'held' : (judged[index] ?? 'duplicate')
  }
  return statuses
}

/** Stores a report of many devices in one round trip, as `storeReport` does for one device. */
export const storeMixedReport = async (
  db: Database,
  report: MixedReport,
): Promise<MixedOutcome> => {
  const base = valuesOf(report)
  if (base.groups.length > MAX_PACKED_LENGTH) return { ok: false, refusal: 'body-too-large' }
  let { assumed } = report
  for (let retries = 0; ; retries++) {
    const found = (await report.raisesBy?.(assumed.emergency)) ?? []
    const { state, ...written } = await writeReport(db, report, base, assumed, found)
    if (!state) return { ok: false, refusal: 'account-not-found' }
    const { time_zone: timeZone, emergency } = state
    const actual = {
      timeZone,
      hasSubscribers: state.subscribed === 1,
      emergency,
      rulesVersion: state.rules_version,
    }
    const isAsAssumed =
      timeZone === assumed.timeZone &&
      actual.hasSubscribers === assumed.hasSubscribers &&
      (!report.raisesBy || emergency === assumed.emergency)
    if (!isAsAssumed) {
      if (retries === MAX_RETRIES) return { ok: false, refusal: 'unavailable' }
      assumed = actual
      continue
    }
    const { accepted } = written
    const rows = base.packed.flat()
    const since = keptSince(report.now, state.retention_days)
    return {
      ok: true,
      statuses: await findStatuses(db, report, { ...written, state }),
      devices: written.found,
      counts: { accepted },
      storedBytes: rows.length && Math.round((accepted / rows.length) * packedBytes(rows)),
      raises: found.filter(({ alert }) => alert.dateTime >= since),
      actual,
    }
  }
}
