import type { Fix } from '../../domain/track/fix.ts'
import { compareSpeeds, MIN_SPEED_MS } from './computedSpeed.ts'
import { MOVE_MS, type Signal, type SignalValue } from './signals.ts'
import { areApart, isAtStand, isPrecise, type PairBudget, standsStill } from './standstill.ts'
import type { Stand } from './stays.ts'

/* The values of a signal along a part of the track. */

export interface Values {
  values: SignalValue[]
  /** False where an earlier fix, before the part, might change the value. */
  isSure: boolean[]
  /** The last fix with a value, if those after it would be too much work. */
  stoppedAt?: number | null
  /** Since when a condition about minutes is fulfilled at each fix, and whether that is known. */
  sinces?: (number | null)[]
  hasBegun?: boolean
  /** km/h at each fix, where the signal computes them. */
  speeds?: (number | null)[]
}

export interface Part {
  /** Whether the part begins with the track. */
  isStart: boolean
  /** The first fix whose value is asked for, beside the one before it. */
  from: Fix | undefined
  /** Since when the condition has been fulfilled before the new fixes, if that is known. */
  since?: number | undefined
  /** Where the device stands at the end of the stored track, if that is known. */
  stand?: Stand | undefined
  budget: PairBudget
}

/**
 * Undecided until `count` decided fixes in a row have the same value. After a value that is not sure
 * nothing is known of those before.
 */
const agree = (
  raw: SignalValue[],
  count: number,
  isStart: boolean,
  wasSure?: boolean[],
): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let last: SignalValue = null
  let run = 0
  let hasBegun = isStart
  for (const [index, value] of raw.entries()) {
    const isLost = wasSure?.[index] === false
    if (isLost) [last, run, hasBegun] = [null, 0, false]
    else if (value !== null) {
      if (value !== last) {
        if (last !== null) hasBegun = true
        run = 0
        last = value
      }
      run++
    }
    const isDecided = !isLost && value !== null && run >= count
    values.push(isDecided ? value : null)
    isSure.push(!isLost && (value === null || isDecided || hasBegun))
  }
  return { values, isSure }
}

/** 1 from the moment that the value has been 1 for `ms`. */
const dwell = (fixes: Fix[], before: Values, ms: number, part: Part): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const sinces: (number | null)[] = []
  let since: number | null = null
  let hasBegun = part.isStart
  let known = part.since ?? Number.POSITIVE_INFINITY
  for (const [index, fix] of fixes.entries()) {
    if (fix.time >= known) [since, hasBegun, known] = [known, true, Number.POSITIVE_INFINITY]
    const value = before.values[index] ?? null
    const wasSure = before.isSure[index] === true
    if (value === 0) {
      since = null
      hasBegun = true
    }
    if (value === 1) since ??= fix.time
    const isReached = value === 1 && since !== null && fix.time - since >= ms
    values.push(value === null ? null : isReached ? 1 : 0)
    isSure.push(value === null ? wasSure : isReached || value === 0 || hasBegun)
    sinces.push(since)
  }
  return { values, isSure, sinces, hasBegun }
}

/** 1 when the device is farther than `metres` from where it was five minutes before or earlier. */
const moves = (fixes: Fix[], metres: number, isStart: boolean): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let reference = -1
  for (const fix of fixes) {
    while ((fixes[reference + 1] as Fix).time <= fix.time - MOVE_MS) reference++
    const earlier = fixes[reference]
    const apart = earlier ? areApart(earlier, fix, metres) : null
    values.push(apart === null ? null : apart ? 1 : 0)
    isSure.push(earlier !== undefined || isStart)
  }
  return { values, isSure }
}

/**
 * The values at `fixes`, a part of the track without gaps, in order of time. `raw` are the signal's
 * own values there. Yields units of work.
 */
export function* deriveValues(
  { derivation, rule }: Signal,
  fixes: Fix[],
  raw: SignalValue[],
  part: Part,
): Generator<number, Values> {
  const { isStart } = part
  const count = rule.hysteresis.fixes
  switch (derivation.type) {
    case 'plain':
      return agree(raw, count, isStart)
    case 'dwell':
      return dwell(fixes, agree(raw, count, isStart), derivation.ms, part)
    case 'speed':
    case 'moves': {
      const { values, isSure, ...more }: Values =
        derivation.type === 'speed'
          ? compareSpeeds(fixes, raw, derivation.limits, isStart)
          : moves(fixes, derivation.metres, isStart)
      return { ...more, ...agree(values, count, isStart, isSure) }
    }
    case 'stands':
      return yield* standsStill(fixes, derivation, part)
  }
}

/**
 * Whether fixes after the part keep their values, whatever was added at or before `added` (an
 * index). `isAnchor` says which stored fixes kept their values.
 */
export const isSettled = (
  { derivation, rule }: Signal,
  fixes: Fix[],
  { raw, values, isAnchor, isSteady, isNew, stand, added }: SettledInput,
): boolean => {
  const later = fixes.slice(added + 1)
  switch (derivation.type) {
    case 'plain': {
      const decided = raw.slice(added + 1).filter((value) => value !== null)
      return decided.length >= rule.hysteresis.fixes - 1
    }
    case 'dwell': {
      let zeros = 0
      return later.some((_, offset) => {
        const index = added + 1 + offset
        if (raw[index] === 0) zeros++
        if (raw[index] === 1) zeros = 0
        const isLeft = zeros >= rule.hysteresis.fixes
        return isLeft || isSteady[index] || (isAnchor[index] === true && values[index] === 1)
      })
    }
    case 'moves':
    case 'speed':
    case 'stands': {
      const { type } = derivation
      // Among others at the same place, a fix changes nothing.
      if (stand && fixes.every((fix, index) => !isNew[index] || isAtStand(fix, stand))) return true
      const ms = type === 'stands' ? derivation.ms : type === 'moves' ? MOVE_MS : MIN_SPEED_MS
      // Only moving is compared with imprecise fixes too.
      const metres = type === 'stands' ? derivation.metres : type === 'moves' ? Infinity : 0
      const next = later.find(({ accuracy }) => isPrecise(accuracy, metres))
      const isEnough = (offset: number) =>
        type === 'stands' || rule.hysteresis.fixes === 1 || isAnchor[added + 1 + offset] === true
      return (
        next !== undefined &&
        later.some(({ time }, offset) => time >= next.time + ms && isEnough(offset))
      )
    }
  }
}

interface SettledInput {
  raw: SignalValue[]
  values: SignalValue[]
  isAnchor: boolean[]
  /** Where a stay has the beginning that it had before. */
  isSteady: boolean[]
  isNew: boolean[]
  stand: Stand | undefined
  added: number
}
