import type { Fix } from '../../domain/track/fix.ts'
import { deriveValues, isSettled, type Part, type Values } from './durations.ts'
import type { Signal, SignalValue } from './signals.ts'
import { keepSince, type Stay } from './stays.ts'

/*
 * Which crossings a report adds to the track. The track is the state: what was raised before is what
 * the stored fixes alone would have raised. Nothing that was raised is withdrawn.
 */

/** A part of the track without gaps, in order of time, with the fixes of a report in it. */
export interface Window {
  fixes: Fix[]
  isNew: boolean[]
  /** Nothing is stored before the first fix, or after the last. */
  isStart: boolean
  isEnd: boolean
}

/** A part of the stored track without gaps, from the instant `from` to the instant `to`. */
export interface Segment {
  from: number
  to: number
  stored: Fix[]
  /** Nothing is stored before, or after, this part. */
  isStart: boolean
  isEnd: boolean
}

export interface WindowFindings {
  /** The crossings that were not raised yet, with their direction and a computed speed. */
  crossings: { fix: Fix; isRising: boolean; speed: number | null }[]
  /** Whether earlier or later fixes might change the result. */
  needsBefore: boolean
  needsAfter: boolean
  /**
   * Since when a stay lasts at the end of the window, whether that is sure, and whether both with
   * and without the new fixes there is one after them: then they change no later value by itself.
   */
  stay?: { since: number | null; isSure: boolean; isJoined: boolean }
  /** The last fix that was evaluated, if the others would be too much work. */
  stoppedAt?: number | null
}

interface Crossing {
  index: number
  isRising: boolean
}

const NOTHING: WindowFindings = { crossings: [], needsBefore: false, needsAfter: false }

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

export const sliceWindow = (window: Window, from: number, to?: number): Window =>
  from === 0 && to === undefined
    ? window
    : {
        fixes: window.fixes.slice(from, to),
        isNew: window.isNew.slice(from, to),
        isStart: window.isStart && from === 0,
        isEnd: window.isEnd,
      }

/** Whether the rule began to watch after the one fix, and not after the other. */
const startsBetween = ({ startsAt }: Signal, earlier: Fix | undefined, later: Fix): boolean =>
  startsAt !== null && earlier !== undefined && earlier.time < startsAt && startsAt <= later.time

/** The values of the stored fixes alone, at their places among all; null at new ones. */
function* deriveStored(
  signal: Signal,
  { fixes, isNew }: Window,
  { raw, now, part }: { raw: SignalValue[]; now: Values; part: Part },
): Generator<number, Values> {
  const firstNew = isNew.indexOf(true)
  // Nothing that comes later changes the values before it.
  if (isNew.indexOf(false, firstNew) === -1)
    return { values: now.values.slice(0, firstNew), isSure: now.isSure.slice(0, firstNew) }
  const stored = fixes.flatMap((_, index) => (isNew[index] ? [] : [index]))
  const derived = yield* deriveValues(
    signal,
    stored.map((index) => fixes[index] as Fix),
    stored.map((index) => raw[index] ?? null),
    part,
  )
  const values: SignalValue[] = fixes.map(() => null)
  const isSure = fixes.map(() => false)
  const sinces: (number | null)[] = fixes.map(() => null)
  for (const [at, index] of stored.entries()) {
    values[index] = derived.values[at] ?? null
    isSure[index] = derived.isSure[at] === true
    sinces[index] = derived.sinces?.[at] ?? null
  }
  return { values, isSure, sinces, stoppedAt: derived.stoppedAt ?? null }
}

/** Whether the first decided fix of the report has neither a decided fix nor the start before it. */
const lacksPredecessor = (
  signal: Signal,
  fixes: Fix[],
  { values, isSure }: Values,
  firstNew: number,
): boolean => {
  const firstDecided = values.findIndex((value, index) => index >= firstNew && value !== null)
  if (firstDecided === -1 || startsBetween(signal, fixes[0], fixes[firstDecided] as Fix))
    return false
  for (let index = firstDecided - 1; index >= 0 && isSure[index]; index--)
    if (values[index] !== null) return false
  return true
}

/** A signal that keeps one decided value, also at a stored fix before the new ones, says nothing. */
const isConstant = (signal: Signal, raw: Int8Array, window: Window): boolean => {
  const { derivation, rule } = signal
  const { fixes } = window
  if (rule.hysteresis.fixes > 1 || window.isNew[0]) return false
  if (raw[0] === 1 && startsBetween(signal, fixes[0], fixes.at(-1) as Fix)) return false
  const isDwell = derivation.type === 'dwell' && (window.isEnd || !window.isNew.at(-1))
  const first = raw[0]
  if (first === UNDECIDED || !(derivation.type === 'plain' || (isDwell && first === 0)))
    return false
  return raw.every((value) => value === first)
}

/** The first of the crossings, without as many of each direction as are known. */
const leaveKnown = (found: Crossing[], known: { falling: number; rising: number }): Crossing[] => {
  const rising = found.filter(({ isRising }) => isRising).length
  let [risingLeft, fallingLeft] = [rising - known.rising, found.length - rising - known.falling]
  return found.filter(({ isRising }) => (isRising ? risingLeft-- : fallingLeft--) > 0)
}

/** How a list of values without objects says that one is undecided. */
export const UNDECIDED = -1

/**
 * Compares the crossings with and without the new fixes. Between two stored fixes whose values did
 * not change (anchors), as many as were there before have been raised; the first of the others are
 * new, of each direction. Between equal anchors that is every crossing, between different ones all
 * but the last. Where the rule or the track starts, a condition counts as 0: one that already holds
 * is a crossing once. `given` are the values of the signal at each fix by itself. Yields units of
 * work beside those of the window's length.
 */
export function* evaluateWindow(
  signal: Signal,
  window: Window,
  given: Int8Array,
  { budget, stay }: Pick<Part, 'budget'> & { stay?: Stay | undefined },
): Generator<number, WindowFindings> {
  const { fixes, isNew, isStart, isEnd } = window
  const firstNew = isNew.indexOf(true)
  if (firstNew === -1 || isConstant(signal, given, window))
    return { ...NOTHING, stay: { since: null, isSure: true, isJoined: false } }
  const lastNew = isNew.lastIndexOf(true)
  const raw = Array.from(given, (value) => (value === UNDECIDED ? null : (value as 0 | 1)))
  const isBegun = typeof stay === 'number' && stay < (fixes[firstNew] as Fix).time
  const since = isBegun ? stay : undefined
  const stand = typeof stay === 'object' ? stay : undefined
  const part = { isStart, from: fixes[firstNew], budget, since, stand }
  const now = yield* deriveValues(signal, fixes, raw, part)
  const before = yield* deriveStored(signal, window, { raw, now, part })
  // What was raised is not known then, and must not be raised again.
  if ((before.stoppedAt ?? null) !== null)
    return { ...NOTHING, stoppedAt: before.stoppedAt ?? null }
  const isAnchor: boolean[] = []
  const isSteady: boolean[] = []
  let isJoined = false
  const crossings: Crossing[] = []
  let stateNow: SignalValue = signal.startsAt !== null && isStart ? 0 : null
  let stateBefore: SignalValue = stateNow
  // Since the last anchor: the crossings with the new fixes, and how many there were without.
  let found: Crossing[] = []
  let known = { falling: 0, rising: 0 }
  const close = () => {
    if (found.length > 0) crossings.push(...leaveKnown(found, known))
    if (found.length > 0) found = []
    known = { falling: 0, rising: 0 }
  }
  // A stay whose beginning was not found is late at the end of the track. Elsewhere it is over, and
  // what it raised is not known.
  const lastStored = isEnd ? isNew.lastIndexOf(false) : fixes.length
  const valueAt = ({ values, isSure }: Values, index: number): SignalValue =>
    isSure[index] || index >= lastStored ? (values[index] ?? null) : null
  for (let index = 0; index < fixes.length; index++) {
    if (startsBetween(signal, fixes[index - 1], fixes[index] as Fix)) {
      close()
      stateNow = 0
      stateBefore = 0
    }
    const value = valueAt(now, index)
    const valueBefore = valueAt(before, index)
    if (value !== null) {
      if (stateNow !== null && value !== stateNow) found.push({ index, isRising: value === 1 })
      stateNow = value
    }
    if (valueBefore !== null) {
      if (stateBefore !== null && valueBefore !== stateBefore)
        known[valueBefore === 1 ? 'rising' : 'falling']++
      stateBefore = valueBefore
    }
    const isSame = value !== null && value === valueBefore
    const isKept = isSame && now.isSure[index] === true && before.isSure[index] === true
    const began = now.sinces?.[index] ?? null
    isAnchor.push(isKept)
    const isStay = value !== null && began !== null
    if (index > lastNew && isStay && valueBefore !== null && before.sinces?.[index] !== null)
      isJoined = true
    isSteady.push(isKept && began !== null && began === before.sinces?.[index])
    if (isKept) close()
  }
  const [sinceNow = null, sinceBefore = null] = [now, before].map(({ sinces }) => sinces?.at(-1))
  const ends = { now: sinceNow, before: sinceBefore, last: (fixes.at(-1) as Fix).time }
  const keptSince = isEnd ? null : keepSince(signal, stay, ends)
  const isAtStand = !isEnd && stand !== undefined && stand.since <= ends.last && stateBefore === 0
  // Its alert comes later, or came.
  if ((keptSince !== null || isAtStand) && stateNow === 1) found.pop()
  close()
  const isUnsure = now.isSure.some((sure, index) => index >= firstNew && !sure)
  const { values } = now
  const kept = { raw, values, isAnchor, isSteady }
  const settled = isSettled(signal, fixes, { ...kept, isNew, stand, added: lastNew })
  return {
    stoppedAt: now.stoppedAt ?? null,
    stay: { since: keptSince ?? sinceNow, isSure: now.hasBegun === true, isJoined },
    crossings: crossings.map(({ index, isRising }) => {
      const fix = fixes[index] as Fix
      return { fix, isRising, speed: now.speeds?.[index] ?? null }
    }),
    needsBefore: !isStart && (isUnsure || lacksPredecessor(signal, fixes, now, firstNew)),
    needsAfter: !isEnd && (stateNow !== stateBefore || !settled),
  }
}
