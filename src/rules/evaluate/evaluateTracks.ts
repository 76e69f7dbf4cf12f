import type { Database } from '../../db/open.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import { firstFrom } from '../../domain/track/fix.ts'
import type { CompiledRules } from './cache.ts'
import type { Segment } from './crossings.ts'
import { evaluateReport, MAX_WINDOW, type ReportFindings, WINDOW_SIZES } from './report.ts'
import { type Signal, withMaxSpeed } from './signals.ts'
import { nextStands } from './standBoxes.ts'
import { NO_STAYS, nextStays, parseStays } from './stays.ts'
import { type DeviceTrack, findAdded, spanOf, type TrackContext } from './tracks.ts'
import { joinSegments, ROW_UNITS, readWindows } from './window.ts'

/* What rules find in the new locations of each device. */

const signalsFor = (
  { rules }: CompiledRules,
  { device: { id, maxSpeed }, window: { groups } }: DeviceTrack,
): Signal[] =>
  rules
    .flatMap(({ rule, signals }) => (isForDevice(rule, id, groups) ? signals : []))
    .map((signal) => withMaxSpeed(signal, maxSpeed))

/** How many locations one report may read beside the first of each window. */
export const MAX_FURTHER_ROWS = 40_000

/** A part of a track that must begin earlier, or end later. */
interface Need {
  track: DeviceTrack
  segment: Segment
  isBefore: boolean
  /** How many stored locations it has there, before the first new one or after the last. */
  reach: number
}

type Found = Map<Segment, ReportFindings>

/** Evaluates the parts of a track that are new; returns what they need. */
const evaluateSegments = async (
  track: DeviceTrack,
  signals: Signal[],
  found: Found,
  { now, timeZone, work }: TrackContext,
): Promise<Need[]> => {
  const added = findAdded(track, now)
  const needs: Need[] = []
  // A stay of several parts would have to be followed from one to the next. One whose locations are
  // all deleted is over.
  const [only, ...others] = track.window.segments
  const isKnown = others.length === 0 && only !== undefined && only.stored.length > 0
  const stays = isKnown ? parseStays(track.stays) : NO_STAYS
  for (const segment of track.window.segments) {
    if (found.has(segment)) continue
    const options = { timeZone, budget: work.pairs, stays }
    const findings = await work.slices.run(evaluateReport(signals, [segment], added, options))
    found.set(segment, findings)
    const { stored, from, to } = segment
    const own = added.slice(firstFrom(added, from), firstFrom(added, to + 1))
    const before = firstFrom(stored, own[0]?.time ?? from)
    const after = stored.length - firstFrom(stored, own.at(-1)?.time ?? to)
    if (findings.needsBefore) needs.push({ track, segment, isBefore: true, reach: before })
    if (findings.needsAfter) needs.push({ track, segment, isBefore: false, reach: after })
  }
  return needs
}

/** Reads so many locations before or after each part. */
const readFurther = async (
  db: Database,
  { viewer, compiled: { members }, work }: TrackContext,
  needs: Need[],
  rows: number,
): Promise<void> => {
  for (const isBefore of [true, false]) {
    const alike = needs.filter((need) => need.isBefore === isBefore)
    const spans = alike.map(({ track, segment: { from, to } }) =>
      spanOf([track.device.id, null], [isBefore ? from : to]),
    )
    const size = isBefore ? { before: rows, after: 0 } : { before: 0, after: rows }
    const pages = await readWindows(db, { viewer, spans, ...size, members })
    for (const [at, { track }] of alike.entries()) {
      const segment = pages[at] as Segment
      work.rowsLeft -= segment.stored.length
      await work.slices.spend(segment.stored.length * ROW_UNITS)
      track.window = { ...track.window, segments: [...track.window.segments, segment] }
    }
  }
}

/** Adds so many locations to the parts, as far as the report may read them. */
const extendSegments = async (
  db: Database,
  context: TrackContext,
  needs: Need[],
  rows: number,
): Promise<void> => {
  const { work } = context
  for (let at = 0; at < needs.length && work.rowsLeft >= rows; ) {
    const some = needs.slice(at, at + Math.floor(work.rowsLeft / rows))
    await readFurther(db, context, some, rows)
    at += some.length
  }
  for (const track of new Set(needs.map((need) => need.track)))
    track.window = { ...track.window, segments: joinSegments(track.window.segments) }
}

/** The findings of all parts together. */
const joinFindings = ({ window }: DeviceTrack, found: Found): ReportFindings => {
  const all = window.segments.flatMap((segment) => found.get(segment) ?? [])
  return {
    hits: all.flatMap(({ hits }) => hits),
    needsBefore: all.some(({ needsBefore }) => needsBefore),
    needsAfter: all.some(({ needsAfter }) => needsAfter),
    used: all.at(-1)?.used ?? 0,
    stoppedAt: null,
    // Of several parts only the end of the track says by itself since when a stay lasts.
    stays: all.at(-1)?.stays.filter(({ isEnd }) => isEnd || all.length === 1) ?? [],
  }
}

/** Sets `findings` of every device that rules are for. */
export const evaluateTracks = async (
  db: Database,
  context: TrackContext,
  tracks: DeviceTrack[],
): Promise<void> => {
  const signals = new Map(tracks.map((track) => [track, signalsFor(context.compiled, track)]))
  const own = tracks.filter((track) => track.sent.length > 0 && signals.get(track)?.length)
  const found: Found = new Map()
  const evaluate = async (some: Iterable<DeviceTrack>): Promise<Need[]> => {
    const needs: Need[] = []
    for (const track of some)
      needs.push(...(await evaluateSegments(track, signals.get(track) ?? [], found, context)))
    return needs
  }
  let needs = await evaluate(own)
  for (const [at, size] of WINDOW_SIZES.entries()) {
    const shorter = WINDOW_SIZES[at - 1]
    if (shorter === undefined || (size === MAX_WINDOW && context.work.isUrgent)) continue
    // A part that was remembered may already be as long: then it is not read again.
    const some = needs.filter(({ reach }) => reach < size)
    if (some.length === 0) continue
    await extendSegments(db, context, some, size - shorter)
    const others = needs.filter(
      ({ reach, track, segment }) => reach >= size && track.window.segments.includes(segment),
    )
    needs = [...others, ...(await evaluate(new Set(some.map(({ track }) => track))))]
  }
  for (const track of own) {
    track.findings = joinFindings(track, found)
    track.used = track.findings.used
  }
  for (const track of tracks) {
    const added = findAdded(track, context.now)
    if (added.length === 0) continue
    const { segments } = track.window
    const known = parseStays(track.stays)
    const stands = nextStands(known, signals.get(track) ?? [], { segments, added })
    track.nextStays = nextStays(track.stays, track.findings?.stays ?? [], stands)
  }
}
