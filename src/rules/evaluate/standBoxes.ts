import { type Fix, firstFrom } from '../../domain/track/fix.ts'
import { type Segment, toWindow } from './crossings.ts'
import { MAX_WINDOW } from './report.ts'
import type { Signal } from './signals.ts'
import { type Block, growBox, isAround, isPrecise } from './standstill.ts'
import type { Stand, Stays } from './stays.ts'

/*
 * The places of devices that stand with very many locations, so that a report need not read them
 * all. Few devices have one: others are evaluated by the windows alone.
 */

/** A run of fewer fixes is read, unless the report may read no more. */
const MIN_STAND_FIXES = 1024
/** What comparing one fix with a box takes, in the units of slices. */
const FIX_UNITS = 0.1
/** A box that has no place in it. */
const EMPTY: Block = { south: Infinity, north: -Infinity, west: Infinity, east: -Infinity }

const toPrevious = (fix: Fix | undefined): Stand['previous'] => {
  if (!fix) return null
  const { time, latitude, longitude, accuracy } = fix
  return { time, latitude, longitude, accuracy }
}

interface TrackPart {
  segment: Segment
  /** The new fixes in it, in order of time. */
  added: Fix[]
  /** The stays that need more before it, which may not be read. */
  lacking: readonly string[]
}

/** The run at the end of the track, if it is long and its beginning is known as well as it can be. */
const findStand = (
  { segment, added }: TrackPart,
  { metres, isLacking }: { metres: number; isLacking: boolean },
): Stand | null => {
  const minFixes = isLacking ? 1 : MIN_STAND_FIXES
  if (!segment.isEnd || segment.stored.length + added.length < minFixes) return null
  const fixes = toWindow(segment, added).fixes.filter((fix) => isPrecise(fix.accuracy, metres))
  let box = EMPTY
  let first = fixes.length
  for (; first > 0; first--) {
    const fix = fixes[first - 1] as Fix
    const grown = growBox(box, fix, metres)
    if (!grown && !isAround(fix, box)) break
    box = grown ?? box
  }
  if (first === 0 && !segment.isStart) {
    const reach = firstFrom(segment.stored, added[0]?.time ?? 0)
    if (!isLacking && reach < MAX_WINDOW) return null
    // The beginning was not found: the alert is late, but true.
    first = 1
  }
  if (fixes.length - first < minFixes) return null
  const since = (fixes[first] as Fix).time
  return { ...box, since, previous: toPrevious(fixes[first - 1]) }
}

/** The time of the precise fix after this one, as far as the part shows it. */
const nextPrecise = ({ segment, added }: TrackPart, time: number, metres: number) => {
  let next: number | null = null
  for (const fixes of [added, segment.stored])
    for (let at = firstFrom(fixes, time + 1); at < fixes.length; at++) {
      const fix = fixes[at] as Fix
      if (next !== null && fix.time >= next) break
      if (!isPrecise(fix.accuracy, metres)) continue
      next = fix.time
      break
    }
  return next
}

/** The stand with the new fixes. Null when the newest of them is not at its place. */
const moveStand = (
  known: Stand,
  part: TrackPart,
  { ms, metres }: { ms: number; metres: number },
): Stand | null => {
  let stand = known
  for (const fix of part.added) {
    const { since, previous } = stand
    if (!isPrecise(fix.accuracy, metres) || (previous && fix.time < previous.time)) continue
    const box = growBox(stand, fix, metres)
    // An earlier crossing that was not read would never be raised: so it is late, but true.
    if (box && fix.time < since && part.segment.to < since + ms) continue
    if (box) stand = { ...box, since: Math.min(since, fix.time), previous }
    else if (fix.time >= since && isAround(fix, stand)) continue
    else if (fix.time < since) stand = { ...stand, previous: toPrevious(fix) }
    else {
      const next = nextPrecise(part, fix.time, metres)
      if (next === null) return null
      stand = { ...stand, since: next, previous: toPrevious(fix) }
    }
  }
  return stand
}

/** Where the device stands after a report, by `Signal.stay`. Yields units of work. */
export function* nextStands(
  stays: Stays,
  signals: Signal[],
  part: TrackPart,
): Generator<number, [string, Stand][]> {
  const lacking = new Set(part.lacking)
  const found = new Map<string, Stand | null>()
  const stands: [string, Stand][] = []
  for (const { stay, derivation } of signals) {
    if (stay === null || derivation.type !== 'stands') continue
    const run = { metres: derivation.metres, isLacking: lacking.has(stay) }
    const known = stays.get(stay)
    let next = typeof known === 'object' ? moveStand(known, part, derivation) : null
    yield part.added.length * FIX_UNITS
    const key = JSON.stringify(run)
    if (!next && !found.has(key)) {
      found.set(key, findStand(part, run))
      yield (part.segment.stored.length + part.added.length) * FIX_UNITS
    }
    next ??= found.get(key) ?? null
    if (next) stands.push([stay, next])
  }
  return stands
}
