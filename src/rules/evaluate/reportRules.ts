import type { Database } from '../../db/open.ts'
import type { PackedLocation } from '../../db/queries/locations.ts'
import type { DeviceRef } from '../../db/queries/visibility.ts'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import {
  countsOf,
  fixesOf,
  type JudgedTrack,
  judgeFromMemory,
  judgeIn,
  mayConcern,
  rememberTrack,
  type SentTrack,
} from './judgeTrack.ts'
import { WINDOW_SIZES } from './report.ts'
import { toRaises } from './reportHits.ts'
import { readWindow } from './reportWindow.ts'
import { loadRules } from './ruleCache.ts'

/*
 * Judges a report by the account's rules before it is stored. The report's INSERT checks that the
 * rules and the part of the track are still those that were judged by.
 */

export interface JudgedReport {
  /** Parts of the track as JSON: from, to, number of locations. */
  window: string
  retentionDays: number
  /** The times that are new, in order. */
  newTimes: number[]
  hits: PendingRaise[]
  /** Remembers the device's last fixes, once the report is stored. */
  remember: () => void
}

export type RulesOutcome =
  | { judged: JudgedReport | null }
  /** The rules have another token by now. */
  | { rulesVersion: string | null }

export interface ReportToJudge {
  device: DeviceRef
  rows: PackedLocation[]
  rulesVersion: string
  timeZone: string
  origin: string
  now: number
  /** Whether an attempt before lost its race: what is remembered is outdated. */
  isRetry: boolean
}

/** Reads few fixes around the report, and more where they do not suffice. */
export const judgeFromTrack = async (
  db: Database,
  device: DeviceRef,
  track: SentTrack,
): Promise<JudgedTrack | null> => {
  const times = track.sent.map(({ time }) => time)
  const { wantsRest } = track.compiled
  let [before, after] = [0, 0]
  for (;;) {
    const size = WINDOW_SIZES[before] ?? 0
    const query = { before: size, after: WINDOW_SIZES[after] ?? 0, wantsRest }
    const window = await readWindow(db, { device, times, ...query })
    if (!window) return null
    const found = judgeIn(window, track)
    const needsBefore = found.judgement.needsBefore && before < WINDOW_SIZES.length - 1
    const needsAfter = found.judgement.needsAfter && after < WINDOW_SIZES.length - 1
    // Where each location has its own neighbours, there are no more to read.
    const isWhole = window.segments.length === 1
    if (!isWhole || !(needsBefore || needsAfter)) return { ...found, window, size }
    if (needsBefore) before++
    if (needsAfter) after++
  }
}

export const judgeByRules = async (db: Database, report: ReportToJudge): Promise<RulesOutcome> => {
  const { device, rows, rulesVersion, timeZone, origin, now } = report
  const { deviceId, accountId } = device
  const compiled = await loadRules(db, accountId, rulesVersion)
  if (compiled.version !== rulesVersion) return { rulesVersion: compiled.version }
  if (!mayConcern(compiled, deviceId)) return { judged: null }
  const sent = fixesOf(rows, compiled.wantsRest)
  const track: SentTrack = { compiled, deviceId, sent, timeZone, now }
  const remembered = report.isRetry ? null : judgeFromMemory(track)
  const judged = remembered ?? (await judgeFromTrack(db, device, track))
  if (!judged) return { judged: null }
  const { window, added, judgement } = judged
  return {
    judged: {
      window: JSON.stringify(countsOf(window.segments)),
      retentionDays: window.retentionDays,
      newTimes: added.map(({ time }) => time),
      hits: await toRaises(judgement.hits, { deviceId, origin, now }),
      remember: () => rememberTrack(track, judged),
    },
  }
}
