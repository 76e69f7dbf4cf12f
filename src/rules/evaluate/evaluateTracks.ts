import type { Database } from '../../db/open.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import { takeTurn } from '../../http/admission/turn.ts'
import type { CompiledRules } from './cache.ts'
import type { Segment } from './crossings.ts'
import { evaluateReport, type ReportFindings, WINDOW_SIZES } from './report.ts'
import type { Signal } from './signals.ts'
import { type DeviceTrack, findAdded, spanOf, type TrackContext } from './tracks.ts'
import { joinSegments, MAX_ROWS, readWindows } from './window.ts'

/* What rules find in the new locations of each device. */

const signalsFor = (
  { rules }: CompiledRules,
  deviceId: string,
  groups: readonly string[],
): Signal[] =>
  rules.flatMap(({ rule, signals }) => (isForDevice(rule, deviceId, groups) ? signals : []))

/** How many locations one report may read beside the first of each window. */
const MAX_FURTHER_ROWS = 262_144
/** No part becomes longer, so that one that would need still more is not read again and again. */
const MAX_PART = 229_376
/** What reading one takes. */
const ROW_UNITS = 0.5
/** By how many locations a window grows, from one of `WINDOW_SIZES` to the next. */
const STEPS = WINDOW_SIZES.slice(1).map((size, at) => size - (WINDOW_SIZES[at] ?? 0))
/** Longer windows are evaluated one report at a time, so that few are in memory. */
const [SHORT_STEPS, LONG_STEPS] = [STEPS.slice(0, 2), STEPS.slice(2)]

/** A part of a track that must begin earlier, or end later. */
interface Need {
  track: DeviceTrack
  segment: Segment
  isBefore: boolean
}

type Found = Map<Segment, ReportFindings>

/** Evaluates the parts of a track that are new; returns what they need. */
const evaluateSegments = async (
  track: DeviceTrack,
  signals: Signal[],
  found: Found,
  { now, timeZone, slices }: TrackContext,
): Promise<Need[]> => {
  const added = findAdded(track, now)
  const needs: Need[] = []
  for (const segment of track.window.segments) {
    if (found.has(segment)) continue
    const findings = await slices.run(evaluateReport(signals, [segment], added, { timeZone }))
    found.set(segment, findings)
    if (findings.needsBefore) needs.push({ track, segment, isBefore: true })
    if (findings.needsAfter) needs.push({ track, segment, isBefore: false })
  }
  return needs
}

/** Reads a page before or after each part; returns how much, and which parts may have more there. */
const readPage = async (
  db: Database,
  { viewer, compiled: { wantsRest }, slices }: TrackContext,
  needs: Need[],
  rows: number,
): Promise<{ read: number; further: Need[] }> => {
  const further: Need[] = []
  let read = 0
  for (const isBefore of [true, false]) {
    const alike = needs.filter((need) => need.isBefore === isBefore)
    const spans = alike.map(({ track, segment: { from, to } }) =>
      spanOf([track.device.id, null], [isBefore ? from : to]),
    )
    const size = isBefore ? { before: rows, after: 0 } : { before: 0, after: rows }
    const pages = await readWindows(db, { viewer, spans, ...size, wantsRest })
    for (const [at, { track }] of alike.entries()) {
      const segment = pages[at] as Segment
      read += segment.stored.length
      await slices.spend(segment.stored.length * ROW_UNITS)
      track.window = { ...track.window, segments: [...track.window.segments, segment] }
      if (!(isBefore ? segment.isStart : segment.isEnd)) further.push({ track, segment, isBefore })
    }
  }
  return { read, further }
}

/** Adds so many locations to the parts; returns how many were read. */
const extendSegments = async (
  db: Database,
  context: TrackContext,
  needs: Need[],
  { rows, maxRows }: { rows: number; maxRows: number },
): Promise<number> => {
  let read = 0
  let open = needs
  for (let left = rows; left > 0 && open.length > 0; left -= MAX_ROWS) {
    const page = Math.min(left, MAX_ROWS)
    const further: Need[] = []
    for (let at = 0; at < open.length && maxRows - read >= page; ) {
      const some = open.slice(at, at + Math.floor((maxRows - read) / page))
      const found = await readPage(db, context, some, page)
      read += found.read
      further.push(...found.further)
      at += some.length
    }
    open = further
  }
  for (const track of new Set(needs.map((need) => need.track)))
    track.window = { ...track.window, segments: joinSegments(track.window.segments) }
  return read
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
  }
}

/** Sets `findings` of every device that rules are for. */
export const evaluateTracks = async (
  db: Database,
  context: TrackContext,
  tracks: DeviceTrack[],
): Promise<void> => {
  const signals = new Map(
    tracks.map((track) => [
      track,
      signalsFor(context.compiled, track.device.id, track.window.groups),
    ]),
  )
  const own = tracks.filter((track) => track.sent.length > 0 && signals.get(track)?.length)
  const found: Found = new Map()
  const evaluate = async (some: Iterable<DeviceTrack>): Promise<Need[]> => {
    const needs: Need[] = []
    for (const track of some)
      needs.push(...(await evaluateSegments(track, signals.get(track) ?? [], found, context)))
    return needs
  }
  let needs = await evaluate(own)
  let maxRows = MAX_FURTHER_ROWS
  const extendTo = async (sizes: readonly number[]): Promise<void> => {
    for (const size of sizes) {
      needs = needs.filter(({ segment }) => segment.stored.length + size <= MAX_PART)
      if (needs.length === 0) return
      maxRows -= await extendSegments(db, context, needs, { rows: size, maxRows })
      needs = await evaluate(new Set(needs.map(({ track }) => track)))
    }
  }
  await extendTo(SHORT_STEPS)
  if (needs.length > 0) await takeTurn(['long windows of rules'], () => extendTo(LONG_STEPS))
  for (const track of own) {
    track.findings = joinFindings(track, found)
    track.used = track.findings.used
  }
}
