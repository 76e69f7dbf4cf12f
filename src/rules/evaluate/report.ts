import { type Box, boxOfPlaces } from '../../domain/geo/geodesy.ts'
import { isShapeApart } from '../../domain/geo/zoneGeometry.ts'
import { isScheduled } from '../../domain/time/schedule.ts'
import type { Fix } from '../../domain/track/fix.ts'
import { evaluateWindow, UNDECIDED, type Window, type WindowFindings } from './crossings.ts'
import type { CompiledZone, Signal } from './signals.ts'
import { ZonesAtFix } from './zonesAtFix.ts'

/* What all rules of a device find in a report. */

/**
 * How many fixes before and after a report are read: first the few that nearly always suffice, then
 * more. Beyond the last, the first decided fix is a baseline.
 */
export const WINDOW_SIZES = [4, 64, 1024] as const

/** A part of the stored track without gaps, from the instant `from` to the instant `to`. */
export interface Segment {
  from: number
  to: number
  stored: Fix[]
  /** Nothing is stored before, or after, this part. */
  isStart: boolean
  isEnd: boolean
}

export interface Hit {
  signal: Signal
  fix: Fix
  zone: CompiledZone | null
}

export interface ReportFindings {
  hits: Hit[]
  needsBefore: boolean
  needsAfter: boolean
  /** The last fix that was evaluated, when the work reached its limit; null when all were. */
  stoppedAt: number | null
}

export interface ReportOptions {
  timeZone: string
  /** How much work may be done. Beyond it the rest of the fixes is left out. */
  maxUnits?: number
}

/* Units of work: of a signal at a fix by itself, and of its values along the window. */
const VALUE_UNITS = 0.05
const WINDOW_UNITS = 0.15
const CROSSING_UNITS = 0.5
/** More hits in one report are not described: a report raises few. Emergencies come first. */
const MAX_HITS = 20_000
/** What a change counts where the work is limited, so that there are fewer hits than that. */
const CHANGE_UNITS = 100

/** Puts the new fixes, in order of time, among the stored ones. */
export const toWindow = (segment: Segment, added: Fix[]): Window => {
  const fixes: Fix[] = []
  const isNew: boolean[] = []
  let next = 0
  for (const fix of segment.stored) {
    for (let given = added[next]; given && given.time < fix.time; given = added[++next]) {
      fixes.push(given)
      isNew.push(true)
    }
    fixes.push(fix)
    isNew.push(false)
  }
  for (const fix of added.slice(next)) {
    fixes.push(fix)
    isNew.push(true)
  }
  const { isStart, isEnd } = segment
  return { fixes, isNew, isStart, isEnd }
}

const cutWindow = ({ fixes, isNew, ...window }: Window, count: number): Window => ({
  ...window,
  fixes: fixes.slice(0, count),
  isNew: isNew.slice(0, count),
})

/** The value at every fix by itself is 0 where all are far from the signal's zones. */
const isFarAway = ({ zones, rule }: Signal, places: Box, maxAccuracy: number): boolean => {
  const margin = Math.max(maxAccuracy, rule.hysteresis.metres)
  return zones?.every(({ shape }) => isShapeApart(shape, places, margin)) === true
}

const maxAccuracyOf = (fixes: Fix[]): number => {
  let max = 0
  for (const { accuracy } of fixes) if (accuracy !== null && accuracy > max) max = accuracy
  return max
}

interface RawValues {
  signal: Signal
  /** Those with the same values, the signal among them. */
  alike: Signal[]
  raw: Int8Array
}

const hasEmergency = ({ alike }: RawValues): boolean => alike.some(({ rule }) => rule.emergency)

/** One for all signals that have the same values, those of emergencies first. */
const groupAlike = (signals: Signal[], count: number): RawValues[] =>
  [...Map.groupBy(signals, ({ key }) => key).values()]
    .map((alike) => ({ alike, raw: new Int8Array(count), signal: alike[0] as Signal }))
    .sort((a, b) => Number(hasEmergency(b)) - Number(hasEmergency(a)))

/** Sets the values at each fix; returns how many fixes the limit allowed. */
function* fillValues(
  groups: RawValues[],
  fixes: Fix[],
  zones: ZonesAtFix,
  maxUnits: number,
): Generator<number, number> {
  let left = maxUnits
  for (const [index, fix] of fixes.entries()) {
    if (left <= 0) return index
    const before = zones.units
    for (const { signal, raw } of groups) {
      const value = signal.evaluate(fix, zones) ?? UNDECIDED
      raw[index] = value
      if (index > 0 && value !== raw[index - 1]) left -= CHANGE_UNITS
    }
    const units = groups.length * VALUE_UNITS + zones.units - before
    left -= units + groups.length * WINDOW_UNITS
    yield units
  }
  return fixes.length
}

/**
 * Evaluates the new fixes, in order of time, in the parts of the track around them. Yields the units
 * of work that each step took, so that the caller can give other requests their turn.
 */
export function* evaluateReport(
  signals: readonly Signal[],
  segments: readonly Segment[],
  added: Fix[],
  { timeZone, maxUnits = Number.POSITIVE_INFINITY }: ReportOptions,
): Generator<number, ReportFindings> {
  const result: ReportFindings = {
    hits: [],
    needsBefore: false,
    needsAfter: false,
    stoppedAt: null,
  }
  for (const segment of segments) {
    const own = added.filter(({ time }) => time >= segment.from && time <= segment.to)
    if (own.length === 0) continue
    const fixes = segment.stored.concat(own)
    const places = boxOfPlaces(fixes)
    const maxAccuracy = maxAccuracyOf(fixes)
    const firstTime = own[0]?.time ?? 0
    // Far away, as many fixes as must agree say that the device was out of the zone before.
    const wasOutside = (count: number) =>
      segment.isStart || (segment.stored[count - 1]?.time ?? Number.POSITIVE_INFINITY) < firstTime
    const near = signals.filter(
      (signal) =>
        !isFarAway(signal, places, maxAccuracy) ||
        !(signal.isRising || wasOutside(signal.rule.hysteresis.fixes)),
    )
    yield signals.length * VALUE_UNITS
    if (near.length === 0) continue
    const whole = toWindow(segment, own)
    const groups = groupAlike(near, whole.fixes.length)
    const zones = new ZonesAtFix(Math.max(...near.map(({ rule }) => rule.hysteresis.metres)))
    const count = yield* fillValues(groups, whole.fixes, zones, maxUnits)
    const isCut = count < whole.fixes.length
    const window = isCut ? cutWindow(whole, count) : whole
    if (isCut) result.stoppedAt = window.fixes.at(-1)?.time ?? null
    for (const { signal, alike, raw } of groups) {
      const found = evaluateWindow(signal, window, raw.subarray(0, count))
      result.needsBefore ||= found.needsBefore
      result.needsAfter ||= found.needsAfter
      for (const each of alike) addHits(result.hits, each, { found, zones, timeZone })
      yield count * WINDOW_UNITS + found.crossings.length * CROSSING_UNITS
    }
  }
  result.hits.sort((a, b) => a.fix.time - b.fix.time)
  return result
}

const addHits = (
  hits: Hit[],
  signal: Signal,
  { found, zones, timeZone }: { found: WindowFindings; zones: ZonesAtFix; timeZone: string },
): void => {
  for (const { fix, isRising } of found.crossings) {
    if (hits.length >= MAX_HITS) return
    if (isRising !== signal.isRising || fix.time < signal.since) continue
    if (!isScheduled(signal.rule.schedule, fix.time, timeZone)) continue
    hits.push({ signal, fix, zone: signal.zoneAt(fix, zones) })
  }
}
