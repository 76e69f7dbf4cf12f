import { distanceMetres } from '../../domain/geo/geodesy.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { Part, Values } from './durations.ts'
import { type SignalValue, STANDSTILL_METRES } from './signals.ts'

/* Whether a device stays in one place. */

/** A less precise fix cannot say that a device is still within `metres`. */
export const isPrecise = (accuracy: number | null, metres: number): boolean =>
  (accuracy ?? 0) <= Math.max(metres, STANDSTILL_METRES)

/** Whether two fixes are farther apart than this; null when they are not precise enough. */
export const areApart = (a: Fix, b: Fix, metres: number): boolean | null => {
  const distance = distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude)
  const accuracy = Math.max(a.accuracy ?? 0, b.accuracy ?? 0)
  if (distance <= metres) return isPrecise(accuracy, metres) ? false : null
  return distance - accuracy > metres ? true : null
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

/** How many fixes were compared with earlier ones, in the units of slices. */
export const pairWork = { units: 0 }
const PAIR_UNITS = 0.01
/** The values beyond are undecided. Only late fixes among very many that are spread need so many. */
const MAX_PAIRS = 16_000_000

/**
 * 1 when every fix of the last `ms`, and one at their beginning, is within `metres` of this one.
 * Before the last fix that is earlier than `from`, nothing is decided.
 */
const stands = (
  fixes: Fix[],
  { ms, metres }: { ms: number; metres: number },
  { isStart, from }: Part,
): Values => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const blocks = toBlocks(fixes)
  const first = from ? fixes.findLastIndex(({ time }) => time < from.time) : 0
  let pairs = 0
  for (const [index, fix] of fixes.entries()) {
    if (index < first || pairs > MAX_PAIRS) {
      values.push(null)
      isSure.push(true)
      continue
    }
    const reach = metres + (fix.accuracy ?? 0)
    const since = fix.time - ms
    let value: SignalValue = 0
    let isKnown = isStart
    for (let i = index - 1; i >= 0; i--) {
      pairs++
      // Within the last `ms`, blocks that are near as a whole are passed over: there may be many.
      const start = i - BLOCK_FIXES + 1
      if (start >= 0 && start % BLOCK_FIXES === 0 && (fixes[start] as Fix).time > since)
        if (isNearBlock(blocks[start / BLOCK_FIXES] as Block, fix, reach)) {
          i = start
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
  pairWork.units += pairs * PAIR_UNITS
  return { values, isSure }
}

/** The values of `stands`. Precise fixes have them by those alone; the others are undecided. */
export const standsStill = (
  fixes: Fix[],
  limits: { ms: number; metres: number },
  part: Part,
): Values => {
  const precise = fixes.filter(({ accuracy }) => isPrecise(accuracy, limits.metres))
  const derived = stands(precise, limits, part)
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
