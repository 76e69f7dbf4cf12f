import { distanceMetres } from '../../domain/geo/geodesy.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { Part, Values } from './durations.ts'
import { type SignalValue, STANDSTILL_METRES } from './signals.ts'
import type { Stand } from './stays.ts'

/* Whether a device stays in one place. */

export type PreciseFix = Pick<Fix, 'time' | 'latitude' | 'longitude' | 'accuracy'>

/** A less precise fix cannot say that a device is still within `metres`. */
export const isPrecise = (accuracy: number | null, metres: number): boolean =>
  (accuracy ?? 0) <= Math.max(metres, STANDSTILL_METRES)

/** Whether two fixes are farther apart than this; null when they are not precise enough. */
export const areApart = (a: PreciseFix, b: PreciseFix, metres: number): boolean | null => {
  const distance = distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude)
  const accuracy = Math.max(a.accuracy ?? 0, b.accuracy ?? 0)
  if (distance <= metres) return isPrecise(accuracy, metres) ? false : null
  return distance - accuracy > metres ? true : null
}

/** A degree is nowhere longer, of latitude or longitude. */
const MAX_METRES_PER_DEGREE = 111_800
/** How many fixes in a row are a block, the longest first. */
const BLOCK_FIXES = [4096, 64]
const MIN_BLOCK_FIXES = 64

/** The greatest and least coordinates of some fixes in a row. */
export interface Block {
  south: number
  north: number
  west: number
  east: number
}

const toBlocks = (fixes: Fix[], size: number): Block[] => {
  const blocks: Block[] = []
  for (const [index, { latitude, longitude }] of fixes.entries()) {
    const block = blocks[Math.floor(index / size)]
    if (block) {
      block.south = Math.min(block.south, latitude)
      block.north = Math.max(block.north, latitude)
      block.west = Math.min(block.west, longitude)
      block.east = Math.max(block.east, longitude)
    } else blocks.push({ south: latitude, north: latitude, west: longitude, east: longitude })
  }
  return blocks
}

/** A fix, and how long a degree of longitude is at most near it, as a share of one of latitude. */
interface Place {
  fix: PreciseFix
  cosine: number
}

/** Nearer than `metres` to the fix, no degree of longitude is longer than `cosine` says. */
const placeOf = (fix: PreciseFix, metres: number): Place => {
  const latitude = Math.max(0, Math.abs(fix.latitude) - metres / MAX_METRES_PER_DEGREE)
  return { fix, cosine: Math.cos((latitude * Math.PI) / 180) }
}

/** Whether places that are so many degrees from this one are surely at most so far away. */
const areNear = (
  { cosine }: Place,
  latitude: number,
  longitude: number,
  metres: number,
): boolean => {
  const degrees = metres / MAX_METRES_PER_DEGREE
  const east = longitude * cosine
  return latitude * latitude + east * east <= degrees * degrees
}

/** True only if every place of the block is at most so far away. */
const isNearBlock = ({ south, north, west, east }: Block, place: Place, metres: number): boolean =>
  areNear(
    place,
    Math.max(north - place.fix.latitude, place.fix.latitude - south),
    Math.max(east - place.fix.longitude, place.fix.longitude - west),
    metres,
  )

/** Whether two fixes are surely farther apart than this. Most that are not need no exact distance. */
const areSurelyApart = (a: PreciseFix, b: Place, metres: number): boolean => {
  const { fix } = b
  const reach = metres + Math.max(a.accuracy ?? 0, fix.accuracy ?? 0)
  const isNear = areNear(b, a.latitude - fix.latitude, a.longitude - fix.longitude, reach)
  return !isNear && areApart(a, fix, metres) === true
}

/** Boxes are rounded outward to about a 25th of `metres`, so that they rarely change. */
const STEPS = 2_500_000

const roundDown = (degrees: number, step: number) =>
  Math.min(degrees, Math.floor(degrees / step) * step)
const roundUp = (degrees: number, step: number) => -roundDown(-degrees, step)

/** Null where the diagonal of the box with the fix may be longer than `metres`. */
export const growBox = (box: Block, fix: PreciseFix, metres: number): Block | null => {
  const { latitude, longitude } = fix
  const step = metres / STEPS
  const south = latitude < box.south ? roundDown(latitude, step) : box.south
  const north = latitude > box.north ? roundUp(latitude, step) : box.north
  const west = longitude < box.west ? roundDown(longitude, step) : box.west
  const east = longitude > box.east ? roundUp(longitude, step) : box.east
  const nearest = Math.max(0, south, -north)
  const width = (east - west) * Math.cos((nearest * Math.PI) / 180)
  const diagonal = Math.hypot(north - south, width) * MAX_METRES_PER_DEGREE
  return diagonal <= metres ? { south, north, west, east } : null
}

/**
 * Whether the fix may be anywhere in the box, by its accuracy. Such fixes are surely apart neither
 * from each other nor from any in the box, as far as it may grow.
 */
export const isAround = (fix: PreciseFix, box: Block): boolean =>
  isNearBlock(box, placeOf(fix, fix.accuracy ?? 0), fix.accuracy ?? 0)

export const isAtStand = ({ time, latitude, longitude }: Fix, stand: Stand): boolean => {
  const { since, south, north, west, east } = stand
  const isInside = latitude >= south && latitude <= north
  return time >= since && isInside && longitude >= west && longitude <= east
}

/** The value at a fix; null when it is not at the stand, or when that does not say it. */
const valueByStand = (
  { since, previous, ...box }: Stand,
  place: Place,
  { ms, metres }: { ms: number; metres: number },
): SignalValue => {
  const isInPlace = (fix: PreciseFix) => growBox(box, fix, metres) !== null || isAround(fix, box)
  if (!isInPlace(place.fix)) return null
  const latest = place.fix.time - ms
  if (since <= latest) return 1
  if (!previous || areSurelyApart(previous, place, metres)) return 0
  if (previous.time <= latest) return 1
  // One in the same place: the beginning was not found, and counts from there.
  return isInPlace(previous) ? 0 : null
}

/**
 * How many fixes may still be compared with earlier ones, by all rules together. Values beyond are
 * undecided. Only very many fixes at the edges of a place need so many.
 */
export interface PairBudget {
  left: number
}

/** What comparing two fixes takes, in the units of slices, and after how many others get a turn. */
const PAIR_UNITS = 0.2
const PAIRS_PER_STEP = 5000

/**
 * 1 when every fix of the last `ms`, and one at their beginning, is within `metres` of this one.
 * Before the last fix that is earlier than `from`, nothing is decided.
 */
function* stands(
  fixes: Fix[],
  { ms, metres }: { ms: number; metres: number },
  { isStart, from, budget, stand }: Part,
): Generator<number, Values> {
  // Of what is before the part, the stand says nothing unless it began there.
  const earlierStand = stand && stand.since <= (fixes[0]?.time ?? 0) ? stand : null
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const levels = BLOCK_FIXES.map((size) => ({ size, blocks: toBlocks(fixes, size) }))
  const first = from ? fixes.findLastIndex(({ time }) => time < from.time) : 0
  const maxReach = metres + Math.max(metres, STANDSTILL_METRES)
  let pairs = 0
  let stoppedAt: number | null = null
  for (const [index, fix] of fixes.entries()) {
    if (index >= first && budget.left <= 0) stoppedAt ??= fixes[index - 1]?.time ?? 0
    if (index < first || stoppedAt !== null) {
      values.push(null)
      isSure.push(true)
      continue
    }
    const place = placeOf(fix, maxReach)
    const reach = metres + (fix.accuracy ?? 0)
    const since = fix.time - ms
    let value: SignalValue = 0
    let isKnown = isStart
    // Without a fix at the beginning of the `ms`, nothing has to be compared.
    const last = isStart && (fixes[0] as Fix).time > since ? -1 : index - 1
    for (let i = last; i >= 0; i--) {
      if (++pairs === PAIRS_PER_STEP) {
        budget.left -= pairs
        pairs = 0
        yield PAIRS_PER_STEP * PAIR_UNITS
        if (budget.left <= 0) break
      }
      // Within the last `ms`, blocks that are near as a whole are passed over: there may be many.
      if ((i + 1) % MIN_BLOCK_FIXES === 0) {
        const end = i + 1
        const near = levels.find(
          ({ size, blocks }) =>
            end % size === 0 &&
            (fixes[end - size] as Fix).time > since &&
            isNearBlock(blocks[end / size - 1] as Block, place, reach),
        )
        if (near) {
          i = end - near.size
          continue
        }
      }
      const earlier = fixes[i] as Fix
      if (areSurelyApart(earlier, place, metres)) {
        isKnown = true
        break
      }
      if (earlier.time > since) continue
      value = 1
      isKnown = true
      break
    }
    if (!isKnown && earlierStand) {
      const known = valueByStand(earlierStand, place, { ms, metres })
      isKnown = known !== null
      value = known ?? value
    }
    const isDecided = budget.left > 0
    if (!isDecided) stoppedAt = fixes[index - 1]?.time ?? 0
    values.push(isDecided ? value : null)
    isSure.push(isKnown || !isDecided)
  }
  budget.left -= pairs
  yield pairs * PAIR_UNITS
  return { values, isSure, stoppedAt }
}

/** The values of `stands`. Precise fixes have them by those alone; the others are undecided. */
export function* standsStill(
  fixes: Fix[],
  limits: { ms: number; metres: number },
  part: Part,
): Generator<number, Values> {
  const precise = fixes.filter(({ accuracy }) => isPrecise(accuracy, limits.metres))
  const derived = yield* stands(precise, limits, part)
  if (precise.length === fixes.length) return derived
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  let next = 0
  for (const fix of fixes) {
    const at = fix === precise[next] ? next++ : null
    values.push(at === null ? null : (derived.values[at] ?? null))
    isSure.push(at === null || derived.isSure[at] === true)
  }
  return { ...derived, values, isSure }
}
