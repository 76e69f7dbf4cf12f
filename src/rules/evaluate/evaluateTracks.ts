import type { Database } from '../../db/open.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import { firstFrom } from '../../domain/track/fix.ts'
import type { CompiledRules } from './cache.ts'
import type { Segment } from './crossings.ts'
import { evaluateReport, MAX_WINDOW, type ReportFindings, WINDOW_SIZES } from './report.ts'
import { type Signal, withMaxSpeed } from './signals.ts'
import { nextStands } from './standBoxes.ts'
import { nextStays, parseStays } from './stays.ts'
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

/** What was found in a part of a track. */
interface PartFound {
  findings: ReportFindings
  needs: Need[]
  /** The stays that it was evaluated with, and those after its new locations. */
  stays: string | null
  nextStays: () => Promise<string | null>
}

type Found = Map<Segment, PartFound>

/** As stored, as far as they have locations: a stay whose locations are all deleted is over. */
const staysOf = ({ stays, window }: DeviceTrack): string | null =>
  window.segments.some(({ stored }) => stored.length > 0) ? stays : stays && '[]'

/** Evaluates the new locations in a part of a track by the stays before them. */
const evaluatePart = async (
  track: DeviceTrack,
  signals: Signal[],
  { segment, record }: { segment: Segment; record: string | null },
  { now, timeZone, work }: TrackContext,
): Promise<PartFound> => {
  const { stored, from, to } = segment
  const added = findAdded(track, now).filter(({ time }) => time >= from && time <= to)
  const stays = parseStays(record)
  const options = { timeZone, budget: work.pairs, stays }
  const findings = await work.slices.run(evaluateReport(signals, [segment], added, options))
  const before = firstFrom(stored, added[0]?.time ?? from)
  const after = stored.length - firstFrom(stored, added.at(-1)?.time ?? to)
  const needs: Need[] = []
  if (findings.needsBefore) needs.push({ track, segment, isBefore: true, reach: before })
  if (findings.needsAfter) needs.push({ track, segment, isBefore: false, reach: after })
  const next = async () => {
    if (added.length === 0) return record
    const part = { segment, added, lacking: findings.lacking }
    const stands = await work.slices.run(nextStands(stays, signals, part))
    return nextStays(record, findings.stays, stands)
  }
  return { findings, needs, stays: record, nextStays: next }
}

/** Evaluates the parts of a track that are new, as if one arrived after the other. */
const evaluateSegments = async (
  track: DeviceTrack,
  signals: Signal[],
  found: Found,
  context: TrackContext,
): Promise<void> => {
  const { segments } = track.window
  let record = staysOf(track)
  for (const segment of segments) {
    let part = found.get(segment)
    if (!part || part.stays !== record) {
      part = await evaluatePart(track, signals, { segment, record }, context)
      found.set(segment, part)
    }
    if (segment !== segments.at(-1)) record = await part.nextStays()
  }
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

/** What was found in all parts of a track. */
const partsOf = ({ window }: DeviceTrack, found: Found): PartFound[] =>
  window.segments.flatMap((segment) => found.get(segment) ?? [])

/** Sets what is found of every device that rules are for. */
export const evaluateTracks = async (
  db: Database,
  context: TrackContext,
  tracks: DeviceTrack[],
): Promise<void> => {
  const signals = new Map(tracks.map((track) => [track, signalsFor(context.compiled, track)]))
  const own = tracks.filter((track) => track.sent.length > 0 && signals.get(track)?.length)
  const found: Found = new Map()
  const evaluate = async (some: Iterable<DeviceTrack>): Promise<void> => {
    for (const track of some)
      await evaluateSegments(track, signals.get(track) ?? [], found, context)
  }
  await evaluate(own)
  for (const [at, size] of WINDOW_SIZES.entries()) {
    const shorter = WINDOW_SIZES[at - 1]
    if (shorter === undefined || (size === MAX_WINDOW && context.work.isUrgent)) continue
    // A part that was remembered may already be as long: then it is not read again.
    const needs = own
      .flatMap((track) => partsOf(track, found).flatMap((part) => part.needs))
      .filter(({ reach }) => reach < size)
    if (needs.length === 0) continue
    await extendSegments(db, context, needs, size - shorter)
    await evaluate(new Set(needs.map(({ track }) => track)))
  }
  for (const track of tracks) {
    const parts = partsOf(track, found)
    const last = parts.at(-1)
    if (last) {
      track.hits = parts.flatMap(({ findings }) => findings.hits)
      track.used = last.findings.used
      track.nextStays = await last.nextStays()
    } else if (findAdded(track, context.now).length > 0) track.nextStays = track.stays && '[]'
  }
}
