import { packedFix } from '../db/fixes.ts'
import type { PackedLocation } from '../db/locations.ts'
import type { Database } from '../db/open.ts'
import type { DeviceRef } from '../db/visibility.ts'
import { keptSince } from '../domain/account.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import type { Fix } from '../domain/fix.ts'
import type { PendingRaise } from '../domain/pendingRaise.ts'
import { isForDevice } from '../domain/rule.ts'
import {
  judgeReport,
  type ReportJudgement,
  type Segment,
  WINDOW_SIZES,
} from '../domain/ruleReport.ts'
import type { Signal } from '../domain/ruleSignal.ts'
import { toRaises } from './reportHits.ts'
import { MAX_TIME, readWindow, type TrackWindow } from './reportWindow.ts'
import { type CompiledRules, loadRules } from './ruleCache.ts'

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

interface Memory {
  rulesVersion: string
  window: TrackWindow
  /** How many fixes before were needed. */
  size: number
}

/** The guard counts them, so they are few; devices that needed more keep as many. */
const REMEMBERED_FIXES = 3

/** The last fixes of devices, as this isolate has seen them. The guard of the INSERT checks them. */
const memories = new BoundedCache<Memory>(5000)

const signalsFor = (
  { rules }: CompiledRules,
  deviceId: string,
  groups: readonly string[] | null,
): Signal[] =>
  rules.flatMap(({ rule, signals }) => (isForDevice(rule, deviceId, groups ?? []) ? signals : []))

/** Whether rules may be for the device. Its groups are read only then. */
const mayConcern = ({ rules }: CompiledRules, deviceId: string): boolean =>
  rules.some(({ rule }) => rule.groups.length > 0 || isForDevice(rule, deviceId, []))

/** Each time once, as the INSERT takes the first of several. In order of time. */
const fixesOf = (rows: PackedLocation[], wantsRest: boolean): Fix[] => {
  const byTime = new Map<number, Fix>()
  for (const row of rows) {
    const time = row[0] as number
    if (!byTime.has(time)) byTime.set(time, packedFix(row, wantsRest))
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

const coversAll = (window: TrackWindow, sent: Fix[]): boolean =>
  sent.every(({ time }) => window.segments.some(({ from, to }) => time >= from && time <= to))

interface Judged {
  window: TrackWindow
  size: number
  added: Fix[]
  judgement: ReportJudgement
}

const judgeIn = (
  window: TrackWindow,
  compiled: CompiledRules,
  report: ReportToJudge,
  sent: Fix[],
): Omit<Judged, 'window' | 'size'> => {
  const known = new Set(window.segments.flatMap(({ stored }) => stored.map(({ time }) => time)))
  const since = keptSince(report.now, window.retentionDays)
  const added = sent.filter(({ time }) => time >= since && !known.has(time))
  const signals = signalsFor(compiled, report.device.deviceId, window.groups)
  return { added, judgement: judgeReport(signals, window.segments, added, report.timeZone) }
}

const judgeFromMemory = (
  compiled: CompiledRules,
  report: ReportToJudge,
  sent: Fix[],
): Judged | null => {
  if (report.isRetry) return null
  const memory = memories.get(report.device.deviceId)
  if (memory?.rulesVersion !== report.rulesVersion || !coversAll(memory.window, sent)) return null
  const found = judgeIn(memory.window, compiled, report, sent)
  const { needsBefore, needsAfter } = found.judgement
  return needsBefore || needsAfter ? null : { ...found, window: memory.window, size: memory.size }
}

/** Reads few fixes around the report, and more where they do not suffice. */
const judgeFromTrack = async (
  db: Database,
  compiled: CompiledRules,
  report: ReportToJudge,
  sent: Fix[],
): Promise<Judged | null> => {
  const times = sent.map(({ time }) => time)
  let [before, after] = [0, 0]
  for (;;) {
    const size = WINDOW_SIZES[before] ?? 0
    const query = { before: size, after: WINDOW_SIZES[after] ?? 0, wantsRest: compiled.wantsRest }
    const window = await readWindow(db, { device: report.device, times, ...query })
    if (!window) return null
    const found = judgeIn(window, compiled, report, sent)
    const needsBefore = found.judgement.needsBefore && before < WINDOW_SIZES.length - 1
    const needsAfter = found.judgement.needsAfter && after < WINDOW_SIZES.length - 1
    // Where each location has its own neighbours, there are no more to read.
    const isWhole = window.segments.length === 1
    if (!isWhole || !(needsBefore || needsAfter)) return { ...found, window, size }
    if (needsBefore) before++
    if (needsAfter) after++
  }
}

const countsOf = (segments: Segment[]): string =>
  JSON.stringify(segments.map(({ from, to, stored }) => [from, to, stored.length]))

/** The end of the track after the report, or nothing when the report did not reach it. */
const toMemory = ({ window, size, added }: Judged, rulesVersion: string): Memory | null => {
  const segment = window.segments.at(-1)
  if (!segment?.isEnd) return null
  const own = added.filter(({ time }) => time >= segment.from)
  const all = [...segment.stored, ...own].sort((a, b) => a.time - b.time)
  const kept = all.slice(-(size === WINDOW_SIZES[0] ? REMEMBERED_FIXES : size))
  const isStart = segment.isStart && kept.length === all.length
  const from = isStart ? 0 : (kept[0]?.time ?? 0)
  const tail = { from, to: MAX_TIME, stored: kept, isStart, isEnd: true }
  return { rulesVersion, size, window: { ...window, segments: [tail] } }
}

export const forgetDevice = (deviceId: string): void => memories.delete(deviceId)

export const judgeByRules = async (db: Database, report: ReportToJudge): Promise<RulesOutcome> => {
  const { device, rows, rulesVersion, origin, now } = report
  const { deviceId, accountId } = device
  const compiled = await loadRules(db, accountId, rulesVersion)
  if (compiled.version !== rulesVersion) return { rulesVersion: compiled.version }
  if (!mayConcern(compiled, deviceId)) return { judged: null }
  const sent = fixesOf(rows, compiled.wantsRest)
  const judged =
    judgeFromMemory(compiled, report, sent) ?? (await judgeFromTrack(db, compiled, report, sent))
  if (!judged) return { judged: null }
  const { window, added, judgement } = judged
  return {
    judged: {
      window: countsOf(window.segments),
      retentionDays: window.retentionDays,
      newTimes: added.map(({ time }) => time),
      hits: await toRaises(judgement.hits, { deviceId, origin, now }),
      remember: () => {
        const memory = toMemory(judged, rulesVersion)
        if (memory) memories.set(deviceId, memory)
        else memories.delete(deviceId)
      },
    },
  }
}
