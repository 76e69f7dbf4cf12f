import type { Database } from '../db/open.ts'
import { readAll } from '../db/statement.ts'
import { keptSince } from '../domain/account/account.ts'
import { currentDay, hasEnded } from '../domain/account/license.ts'
import type { MIXED_REJECTIONS } from '../domain/track/location.ts'
import type { MixedReport } from './mixedReport.ts'
import {
  type MixedValues,
  type NamedDevice,
  type StateRow,
  selectStored,
} from './mixedStatements.ts'
import { type SentLocation, type StoredRow, statusesOf } from './reportOutcome.ts'

/* What became of each location of a report of many devices. */

/** `held`: neither stored nor refused yet, since it has to be judged exactly. */
export type MixedStatus = 'accepted' | 'held' | (typeof MIXED_REJECTIONS)[number]

/** A report after its batch. */
export interface Written {
  values: MixedValues
  accepted: number
  state: StateRow
  found: NamedDevice[]
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
export const findStatuses = async (
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
