import { type Box, boxOfPlaces } from '../../domain/geo/geodesy.ts'
import { isShapeApart } from '../../domain/geo/zoneGeometry.ts'
import { type Fix, firstFrom } from '../../domain/track/fix.ts'
import {
  evaluateWindow,
  type Segment,
  sliceWindow,
  toWindow,
  UNDECIDED,
  type Window,
  type WindowFindings,
} from './crossings.ts'
import { addHits, type Hit } from './foundHits.ts'
import type { Signal } from './signals.ts'
import type { PairBudget } from './standstill.ts'
import { NO_STAYS, type StayEnd, type Stays } from './stays.ts'
import { ZonesAtFix } from './zonesAtFix.ts'

/* What all rules of a device find in a report. */

/**
 * How many fixes before and after a report are read: first the few that nearly always suffice, then
 * more. Beyond the last, the first decided fix is a baseline.
 */
export const WINDOW_SIZES = [4, 64, 1024, 8192] as const
export const MAX_WINDOW = WINDOW_SIZES[3]

export interface ReportFindings {
  hits: Hit[]
  needsBefore: boolean
  needsAfter: boolean
  /** How many fixes before the first new one a signal needed. */
  used: number
  /** The last fix that was evaluated, when the work reached its limit; null when all were. */
  stoppedAt: number | null
  stays: StayEnd[]
  /** The stays of those that need more before the part. */
  lacking: string[]
}

export interface ReportOptions {
  timeZone: string
  /** How much work may be done. Beyond it the rest of the fixes is left out. */
  maxUnits?: number
  /** Whether crossings before the last change are hits as well: in a test. */
  includesEarlier?: boolean
  /** What `stands` may compare, in all parts of the report together. */
  budget?: PairBudget
  /** As they are before the part. */
  stays?: Stays
}

/** In one report. A test of a rule looks at more locations. */
export const [MAX_REPORT_PAIRS, MAX_TEST_PAIRS] = [500_000, 5_000_000]

/* Units of work: of a signal at a fix by itself, and of its values along the window. */
const VALUE_UNITS = 0.05
/** What finding a fix's place in the window takes. */
const PLACE_UNITS = 0.1
const WINDOW_UNITS = 0.15
const CROSSING_UNITS = 0.5
/** What a change counts where the work is limited, so that there are fewer hits than that. */
const CHANGE_UNITS = 100

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

const namesOf = ({ alike }: RawValues): string[] => alike.flatMap(({ stay }) => stay ?? [])

/** One for all signals that have the same values, those of emergencies first. */
const groupAlike = (signals: Signal[], count: number): RawValues[] =>
  [...Map.groupBy(signals, ({ key }) => key).values()]
    .map((alike) => ({ alike, raw: new Int8Array(count), signal: alike[0] as Signal }))
    .sort((a, b) => Number(hasEmergency(b)) - Number(hasEmergency(a)))

/** Sets the values at the fixes from `from` to before `to`; returns where the limit ended this. */
function* fillValues(
  groups: RawValues[],
  fixes: Fix[],
  zones: ZonesAtFix,
  { from, to, maxUnits }: { from: number; to: number; maxUnits: number },
): Generator<number, number> {
  let left = maxUnits
  for (let index = from; index < to; index++) {
    if (left <= 0) return index
    const fix = fixes[index] as Fix
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
  return to
}

/** Takes what a group of signals finds by so many fixes before the first new one. */
type Found = (group: RawValues, it: WindowFindings, used: number) => void

interface GroupOptions {
  maxUnits: number
  budget: PairBudget
  stays: Stays
  found: Found
}

/**
 * Evaluates signals in a window: first by the few fixes before the new ones that nearly always
 * suffice, then, those that need it, by more. Returns the last fix before a limit.
 */
function* evaluateGroups(
  groups: RawValues[],
  whole: Window,
  zones: ZonesAtFix,
  { maxUnits, budget, stays, found }: GroupOptions,
): Generator<number, number | null> {
  const firstNew = whole.isNew.indexOf(true)
  let window = whole
  let pending = groups
  let to = whole.fixes.length
  let stoppedAt: number | null = null
  for (const size of [...WINDOW_SIZES, Number.POSITIVE_INFINITY]) {
    const from = Math.max(0, firstNew - size)
    const end = yield* fillValues(pending, whole.fixes, zones, { from, to, maxUnits })
    if (end < to) window = sliceWindow(whole, 0, end)
    const tail = sliceWindow(window, from)
    const further: RawValues[] = []
    for (const group of pending) {
      const raw = group.raw.subarray(from, window.fixes.length)
      const stay = namesOf(group)
        .map((name) => stays.get(name))
        .find((each) => each !== undefined)
      const it = yield* evaluateWindow(group.signal, tail, raw, { budget, stay })
      if (it.needsBefore && from > 0) further.push(group)
      else found(group, it, firstNew - from)
      stoppedAt ??= it.stoppedAt ?? null
      yield 1 + raw.length * WINDOW_UNITS + it.crossings.length * CROSSING_UNITS
    }
    if (further.length === 0) break
    pending = further
    to = from
  }
  return stoppedAt ?? (window === whole ? null : (window.fixes.at(-1)?.time ?? null))
}

/**
 * Evaluates the new fixes, in order of time, in the parts of the track around them. Yields the units
 * of work that each step took, so that the caller can give other requests their turn.
 */
export function* evaluateReport(
  signals: readonly Signal[],
  segments: readonly Segment[],
  added: Fix[],
  options: ReportOptions,
): Generator<number, ReportFindings> {
  const { timeZone, maxUnits = Number.POSITIVE_INFINITY, includesEarlier = false } = options
  const { budget = { left: MAX_REPORT_PAIRS }, stays = NO_STAYS } = options
  const result: ReportFindings = {
    hits: [],
    needsBefore: false,
    needsAfter: false,
    used: 0,
    stoppedAt: null,
    stays: [],
    lacking: [],
  }
  for (const segment of segments) {
    const own = added.filter(({ time }) => time >= segment.from && time <= segment.to)
    if (own.length === 0) continue
    yield added.length * PLACE_UNITS
    const fixes = segment.stored.length > 0 ? segment.stored.concat(own) : own
    const places = boxOfPlaces(fixes)
    yield fixes.length * PLACE_UNITS
    const maxAccuracy = maxAccuracyOf(fixes)
    const firstTime = own[0]?.time ?? 0
    // Far away, as many fixes as must agree say that the device was out of the zone before.
    const wasOutside = (count: number) =>
      segment.isStart || (segment.stored[count - 1]?.time ?? Number.POSITIVE_INFINITY) < firstTime
    const hasStay = ({ stay }: Signal) => stay !== null && stays.has(stay)
    const near = signals.filter(
      (signal) =>
        !isFarAway(signal, places, maxAccuracy) ||
        !((signal.isRising && !hasStay(signal)) || wasOutside(signal.rule.hysteresis.fixes)),
    )
    yield signals.length * VALUE_UNITS + fixes.length * PLACE_UNITS
    const isLongest = firstFrom(segment.stored, firstTime) >= MAX_WINDOW
    const last = Math.max(segment.stored.at(-1)?.time ?? 0, own.at(-1)?.time ?? 0)
    const end = { isEnd: segment.isEnd, isLongest, last }
    const nearNames = new Set(near.map(({ stay }) => stay))
    const names = [...stays.keys()].filter((name) => !nearNames.has(name))
    result.stays.push({ ...end, names, since: null, isSure: true, isSettled: true })
    if (near.length === 0) continue
    const window = toWindow(segment, own)
    yield fixes.length * PLACE_UNITS
    const groups = groupAlike(near, window.fixes.length)
    const zones = new ZonesAtFix(Math.max(...near.map(({ rule }) => rule.hysteresis.metres)))
    const found: Found = (group, { crossings, needsBefore, needsAfter, stay }, used) => {
      const isSettled = !needsAfter || stay?.isJoined === true
      if (stay && group.signal.derivation.type === 'dwell') {
        const ownEnd = { ...end, isLongest: isLongest || needsBefore }
        result.stays.push({ ...ownEnd, ...stay, names: namesOf(group), isSettled })
      }
      result.used = Math.max(result.used, used)
      result.needsBefore ||= needsBefore
      if (needsBefore) result.lacking.push(...namesOf(group))
      result.needsAfter ||= needsAfter
      for (const each of group.alike)
        addHits(result.hits, each, { crossings, zones, timeZone, includesEarlier })
    }
    result.stoppedAt = yield* evaluateGroups(groups, window, zones, {
      maxUnits,
      budget,
      stays,
      found,
    })
  }
  result.hits.sort((a, b) => a.fix.time - b.fix.time)
  return result
}
