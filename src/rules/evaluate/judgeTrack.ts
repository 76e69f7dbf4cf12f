import { packedFix } from '../../db/queries/fixes.ts'
import type { PackedLocation } from '../../db/queries/locations.ts'
import { keptSince } from '../../domain/account/account.ts'
import { BoundedCache } from '../../domain/cache/boundedCache.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import type { Fix } from '../../domain/track/fix.ts'
import { judgeReport, type ReportJudgement, type Segment, WINDOW_SIZES } from './report.ts'
import { MAX_TIME, type TrackWindow } from './reportWindow.ts'
import type { CompiledRules } from './ruleCache.ts'
import type { Signal } from './signals.ts'

/* Judges the new locations of one device by a window of its track, read or remembered. */

/** The locations of one device that are to be judged. */
export interface SentTrack {
  compiled: CompiledRules
  deviceId: string
  /** In order of time, each time once. */
  sent: Fix[]
  timeZone: string
  now: number
}

export interface JudgedTrack {
  window: TrackWindow
  /** How many fixes before were needed. */
  size: number
  /** Those of the sent that are new. */
  added: Fix[]
  judgement: ReportJudgement
}

export const signalsFor = (
  { rules }: CompiledRules,
  deviceId: string,
  groups: readonly string[],
): Signal[] =>
  rules.flatMap(({ rule, signals }) => (isForDevice(rule, deviceId, groups) ? signals : []))

/** Whether rules may be for the device. Its groups are read only then. */
export const mayConcern = ({ rules }: CompiledRules, deviceId: string): boolean =>
  rules.some(({ rule }) => rule.groups.length > 0 || isForDevice(rule, deviceId, []))

const isInOrder = (rows: PackedLocation[]): boolean => {
  for (let at = 1; at < rows.length; at++)
    if ((rows[at]?.[0] as number) <= (rows[at - 1]?.[0] as number)) return false
  return true
}

/** Each time once, as the INSERT takes the first of several. In order of time. */
export const fixesOf = (rows: PackedLocation[], wantsRest: boolean): Fix[] => {
  // As most reports are. A map of a thousand times takes five times as long as their fixes.
  if (isInOrder(rows)) return rows.map((row) => packedFix(row, wantsRest))
  const byTime = new Map<number, Fix>()
  for (const row of rows) {
    const time = row[0] as number
    if (!byTime.has(time)) byTime.set(time, packedFix(row, wantsRest))
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

/** Those that the INSERT will store. */
export const findAdded = (window: TrackWindow, sent: Fix[], now: number): Fix[] => {
  const known = new Set(window.segments.flatMap(({ stored }) => stored.map(({ time }) => time)))
  const since = keptSince(now, window.retentionDays)
  return sent.filter(({ time }) => time >= since && !known.has(time))
}

export const judgeIn = (
  window: TrackWindow,
  { compiled, deviceId, sent, timeZone, now }: SentTrack,
): Omit<JudgedTrack, 'window' | 'size'> => {
  const added = findAdded(window, sent, now)
  const signals = signalsFor(compiled, deviceId, window.groups)
  return { added, judgement: judgeReport(signals, window.segments, added, timeZone) }
}

/** Parts of a track as the guard of an INSERT counts them: from, to, number of locations. */
export const countsOf = (segments: Segment[]): [from: number, to: number, count: number][] =>
  segments.map(({ from, to, stored }) => [from, to, stored.length])

interface Memory {
  version: string | null
  window: TrackWindow
  size: number
}

/** The guard counts them, so they are few; devices that needed more keep as many. */
const REMEMBERED_FIXES = 2

/** The last fixes of devices, as this isolate has seen them. The guard of the INSERT checks them. */
const memories = new BoundedCache<Memory>(5000)

export const forgetDevice = (deviceId: string): void => memories.delete(deviceId)

/** The end of the track after a report, or nothing when the report did not reach it. */
const toMemory = ({ window, size, added }: JudgedTrack, version: string | null): Memory | null => {
  const segment = window.segments.at(-1)
  if (!segment?.isEnd) return null
  const own = added.filter(({ time }) => time >= segment.from)
  const all = [...segment.stored, ...own].sort((a, b) => a.time - b.time)
  const kept = all.slice(-(size === WINDOW_SIZES[0] ? REMEMBERED_FIXES : size))
  const isStart = segment.isStart && kept.length === all.length
  const from = isStart ? 0 : (kept[0]?.time ?? 0)
  const tail = { from, to: MAX_TIME, stored: kept, isStart, isEnd: true }
  return { version, size, window: { ...window, segments: [tail] } }
}

/** Remembers the device's last fixes, once the new ones are stored. */
export const rememberTrack = ({ compiled, deviceId }: SentTrack, judged: JudgedTrack): void => {
  const memory = toMemory(judged, compiled.version)
  if (memory) memories.set(deviceId, memory)
  else memories.delete(deviceId)
}

/** False also for a location that is too old: the account may keep more by now. */
const coversAll = (window: TrackWindow, sent: Fix[], now: number): boolean => {
  const since = keptSince(now, window.retentionDays)
  return sent.every(
    ({ time }) =>
      time >= since && window.segments.some(({ from, to }) => time >= from && time <= to),
  )
}

export const judgeFromMemory = (track: SentTrack): JudgedTrack | null => {
  const memory = memories.get(track.deviceId)
  if (memory?.version !== track.compiled.version) return null
  if (!coversAll(memory.window, track.sent, track.now)) return null
  const found = judgeIn(memory.window, track)
  const { needsBefore, needsAfter } = found.judgement
  return needsBefore || needsAfter ? null : { ...found, window: memory.window, size: memory.size }
}
