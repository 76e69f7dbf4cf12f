import type { Database } from '../db/open.ts'
import { type PackedLocation, packLocation } from '../db/queries/locations.ts'
import { insertHits, packRaises } from '../db/queries/pendingRaises.ts'
import { runBatch } from '../db/statement.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { fold } from '../domain/text/fold.ts'
import { localDay } from '../domain/time/day.ts'
import type { JudgedMixed } from '../rules/evaluate/mixedRules.ts'
import type { NamedRows } from '../rules/evaluate/mixedTracks.ts'
import { appendMixedEvents } from './mixedEvents.ts'
import { isReportStored } from './mixedGuard.ts'
import type { Written } from './mixedOutcome.ts'
import type { DeviceReport, MixedReport } from './mixedReport.ts'
import {
  insertJudgedLocations,
  insertLocations,
  insertRaises,
  type MixedValues,
  type NamedDevice,
  type StateRow,
  selectDevices,
  selectState,
  updateLastContact,
} from './mixedStatements.ts'
import { type AssumedState, oldestOf } from './report.ts'

/* The batch that stores a report of many devices. */

export const nameOf = ({
  deviceId,
  identifier,
}: Pick<DeviceReport, 'deviceId' | 'identifier'>): NamedRows['name'] => [
  deviceId,
  identifier === null ? null : fold(identifier),
]

/** All locations but those that are held back, each with the positions of its report and in it. */
const packRows = (packed: PackedLocation[][], held?: JudgedMixed['held']): string =>
  JSON.stringify(
    packed.flatMap((rows, report) => {
      const times = held?.get(report)
      const placed = rows.map((row, at) => [...row, report, at])
      return times ? placed.filter(([time]) => !times.has(time as number)) : placed
    }),
  )

export const packReport = ({ viewer, reports, isJudged, raisesBy, now }: MixedReport) => {
  const { accountId, groupId } = viewer
  const packed = reports.map(({ locations: reported }) => reported.map(packLocation))
  return {
    accountId,
    groupId,
    now,
    packed,
    rows: packRows(packed),
    refs: JSON.stringify(reports.map((report) => [...nameOf(report), report.eventId])),
    oldest: oldestOf(reports.flatMap((report) => report.locations)),
    isJudged: isJudged ? 1 : 0,
    mayRaise: raisesBy ? 1 : 0,
  } as const
}

export type PackedReport = ReturnType<typeof packReport>

/** One attempt to store a report, with what it assumes. */
interface Attempt {
  assumed: AssumedState
  raises: PendingRaise[]
  /** Null when no rule is for any of the devices. */
  judged: JudgedMixed | null
}

export const writeReport = async (
  db: Database,
  report: MixedReport,
  { packed, ...base }: PackedReport,
  { assumed, raises, judged }: Attempt,
): Promise<Omit<Written, 'state'> & { state: StateRow | undefined }> => {
  const { timeZone, hasSubscribers, emergency, rulesVersion } = assumed
  const values: MixedValues = {
    ...base,
    rows: judged?.held.size ? packRows(packed, judged.held) : base.rows,
    // An infinite number, of a report without locations, cannot be bound.
    oldest: Math.min(base.oldest, base.now),
    timeZone,
    today: localDay(base.now, timeZone),
    hasSubscribers: hasSubscribers ? 1 : 0,
    emergency,
    raises: packRaises(raises),
    rulesVersion,
    window: judged?.window ?? null,
    expected: judged?.expected ?? null,
    found: judged?.found ?? 0,
    retentionDays: judged?.retentionDays ?? null,
    newKey: judged?.news?.key ?? null,
    newTime: judged?.news?.time ?? null,
  }
  const results = await runBatch(db, [
    judged ? insertJudgedLocations(db, values) : insertLocations(db, values),
    ...insertHits(db, values, judged?.hits ?? []),
    ...(hasSubscribers ? appendMixedEvents(db, values) : []),
    ...(raises.length > 0 ? [insertRaises(db, values)] : []),
    updateLastContact(db, values),
    ...(report.alsoRun?.(isReportStored(values)) ?? []),
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
