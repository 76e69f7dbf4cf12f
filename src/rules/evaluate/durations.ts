import { distanceMetres } from '../../domain/geo/geodesy.ts'
import type { Fix } from '../../domain/track/fix.ts'
import { MOVE_MS, type Signal, type SignalValue, STANDSTILL_METRES } from './signals.ts'

/* The values of a signal along a part of the track. */

export interface Values {
  values: SignalValue[]
  /** False where an earlier fix, before the part, might change the value. */
  isSure: boolean[]
}

/** Undecided until `count` decided fixes in a row have the same value. */
const agree = (raw: SignalValue[], count: number, isStart: boolean): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let last: SignalValue = null
  let run = 0
  let hasBegun = isStart
  for (const value of raw) {
    if (value !== null) {
      if (value !== last) {
        if (last !== null) hasBegun = true
        run = 0
        last = value
      }
      run++
    }
    const isDecided = value !== null && run >= count
    values.push(isDecided ? value : null)
    isSure.push(value === null || isDecided || hasBegun)
  }
  return { values, isSure }
}

/** 1 from the moment that the value has been 1 for `ms`. */
const dwell = (fixes: Fix[], before: Values, ms: number, isStart: boolean): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let since: number | null = null
  let hasBegun = isStart
  for (const [index, fix] of fixes.entries()) {
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
  }
  return { values, isSure }
}

/** A less precise fix cannot say that a device is still within `metres`. */
const isPrecise = (accuracy: number | null, metres: number): boolean =>
  (accuracy ?? 0) <= Math.max(metres, STANDSTILL_METRES)

/** Whether two fixes are farther apart than this; null when they are not precise enough. */
const areApart = (a: Fix, b: Fix, metres: number): boolean | null => {
  const distance = distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude)
  const accuracy = Math.max(a.accuracy ?? 0, b.accuracy ?? 0)
  if (distance <= metres) return isPrecise(accuracy, metres) ? false : null
  return distance - accuracy > metres ? true : null
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

/** A degree is nowhere longer, of latitude or longitude. */
const MAX_METRES_PER_DEGREE = 111_800
const BLOCK_FIXES = 64

/** The greatest and least coordinates of some fixes in a row. */
interface Block {
  south: number
  north: number
  west: number
  east: number
}

const toBlocks = (fixes: Fix[]): Block[] => {
  const blocks: Block[] = []
  for (const [index, { latitude, longitude }] of fixes.entries()) {
    const block = blocks[Math.floor(index / BLOCK_FIXES)]
    if (block) {
      block.south = Math.min(block.south, latitude)
      block.north = Math.max(block.north, latitude)
      block.west = Math.min(block.west, longitude)
      block.east = Math.max(block.east, longitude)
    } else blocks.push({ south: latitude, north: latitude, west: longitude, east: longitude })
  }
  return blocks
}

/** True only if every place of the block is at most so far away. */
const isNearBlock = ({ south, north, west, east }: Block, fix: Fix, metres: number): boolean =>
  (Math.max(north - fix.latitude, fix.latitude - south) +
    Math.max(east - fix.longitude, fix.longitude - west)) *
    MAX_METRES_PER_DEGREE <=
  metres

/** Whether two fixes are surely farther apart than this. Most that are not need no exact distance. */
const areSurelyApart = (a: Fix, b: Fix, metres: number): boolean => {
  const degrees = Math.abs(a.latitude - b.latitude) + Math.abs(a.longitude - b.longitude)
  const reach = metres + Math.max(a.accuracy ?? 0, b.accuracy ?? 0)
  return degrees * MAX_METRES_PER_DEGREE > reach && areApart(a, b, metres) === true
}

/** 1 when every fix of the last `ms`, and one at their beginning, is within `metres` of this one. */
const stands = (
  fixes: Fix[],
  { ms, metres }: { ms: number; metres: number },
  isStart: boolean,
): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const blocks = toBlocks(fixes)
  for (const [index, fix] of fixes.entries()) {
    const reach = metres + (fix.accuracy ?? 0)
    const since = fix.time - ms
    let value: SignalValue = 0
    let isKnown = isStart
    for (let i = index - 1; i >= 0; i--) {
      // Within the last `ms`, blocks that are near as a whole are passed over: there may be many.
      const first = i - BLOCK_FIXES + 1
      if (first >= 0 && first % BLOCK_FIXES === 0 && (fixes[first] as Fix).time > since)
        if (isNearBlock(blocks[first / BLOCK_FIXES] as Block, fix, reach)) {
          i = first
          continue
        }
      const earlier = fixes[i] as Fix
      if (areSurelyApart(earlier, fix, metres)) {
        isKnown = true
        break
      }
      if (earlier.time > since) continue
      value = 1
      isKnown = true
      break
    }
    values.push(value)
    isSure.push(isKnown)
  }
  return { values, isSure }
}

/** Precise fixes have values by those alone; the others are undecided. */
const deriveByPrecise = (
  fixes: Fix[],
  metres: number,
  derive: (precise: Fix[]) => Values,
): Values => {
  const precise = fixes.filter(({ accuracy }) => isPrecise(accuracy, metres))
  const derived = derive(precise)
  if (precise.length === fixes.length) return derived
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let next = 0
  for (const fix of fixes) {
    const at = fix === precise[next] ? next++ : null
    values.push(at === null ? null : (derived.values[at] ?? null))
    isSure.push(at === null || derived.isSure[at] === true)
  }
  return { values, isSure }
}

/**
 * The values at `fixes`, a part of the track without gaps, in order of time. `raw` are the signal's
 * own values there, and `isStart` says that the part begins with the track.
 */
export const deriveValues = (
  { derivation, rule }: Signal,
  fixes: Fix[],
  raw: SignalValue[],
  isStart: boolean,
): Values => {
  const count = rule.hysteresis.fixes
  switch (derivation.type) {
    case 'plain':
      return agree(raw, count, isStart)
    case 'dwell':
      return dwell(fixes, agree(raw, count, isStart), derivation.ms, isStart)
    case 'moves': {
      const { values, isSure } = moves(fixes, derivation.metres, isStart)
      const agreed = agree(values, count, isStart)
      return { ...agreed, isSure: agreed.isSure.map((sure, index) => sure && !!isSure[index]) }
    }
    case 'stands':
      return deriveByPrecise(fixes, derivation.metres, (precise) =>
        stands(precise, derivation, isStart),
      )
  }
}

/**
 * Whether fixes after the part keep their values, whatever was added at or before `added` (an
 * index). `isAnchor` says which stored fixes kept their values.
 */
export const isSettled = (
  { derivation, rule }: Signal,
  fixes: Fix[],
  { raw, values, isAnchor, added }: SettledInput,
): boolean => {
  const later = fixes.slice(added + 1)
  switch (derivation.type) {
    case 'plain': {
      const decided = raw.slice(added + 1).filter((value) => value !== null)
      return decided.length >= rule.hysteresis.fixes - 1
    }
    case 'dwell':
      return later.some((_, offset) => {
        const index = added + 1 + offset
        return raw[index] === 0 || (isAnchor[index] === true && values[index] === 1)
      })
    case 'moves':
    case 'stands': {
      const isStand = derivation.type === 'stands'
      const ms = isStand ? derivation.ms : MOVE_MS
      const next = later.find(({ accuracy }) => !isStand || isPrecise(accuracy, derivation.metres))
      return next !== undefined && later.some(({ time }) => time >= next.time + ms)
    }
  }
}

interface SettledInput {
  raw: SignalValue[]
  values: SignalValue[]
  isAnchor: boolean[]
  added: number
}
