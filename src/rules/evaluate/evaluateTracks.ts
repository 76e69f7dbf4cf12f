import type { Database } from '../../db/open.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import type { CompiledRules } from './cache.ts'
import { evaluateReport, WINDOW_SIZES } from './report.ts'
import type { Signal } from './signals.ts'
import { type DeviceTrack, findAdded, spanOf, type TrackContext, timesOf } from './tracks.ts'
import { readWindows } from './window.ts'

/* What rules find in the new locations of each device. */

const signalsFor = (
  { rules }: CompiledRules,
  deviceId: string,
  groups: readonly string[],
): Signal[] =>
  rules.flatMap(({ rule, signals }) => (isForDevice(rule, deviceId, groups) ? signals : []))

/** Reads more of the tracks, of all that need the same at once. */
const readMore = async (
  db: Database,
  { viewer, compiled: { wantsRest } }: TrackContext,
  tracks: DeviceTrack[],
): Promise<void> => {
  const bySize = Map.groupBy(tracks, ({ before, after }) => `${before} ${after}`)
  for (const alike of bySize.values()) {
    const [{ before: earlier, after: later } = { before: 0, after: 0 }] = alike
    const size = { before: WINDOW_SIZES[earlier] ?? 0, after: WINDOW_SIZES[later] ?? 0 }
    const spans = alike.map((track) => spanOf([track.device.id, null], timesOf(track)))
    const segments = await readWindows(db, { viewer, spans, ...size, wantsRest })
    for (const [at, track] of alike.entries()) {
      const segment = segments[at]
      track.window = { ...track.window, segments: segment ? [segment] : [] }
      track.size = size.before
    }
  }
}

/** Evaluates the track by its window; true when more of it must be read. */
const needsMore = async (
  track: DeviceTrack,
  signals: Signal[],
  { now, timeZone, slices }: TrackContext,
): Promise<boolean> => {
  const { window, before, after } = track
  const added = findAdded(track, now)
  const findings = await slices.run(evaluateReport(signals, window.segments, added, { timeZone }))
  track.findings = findings
  const last = WINDOW_SIZES.length - 1
  const needsBefore = findings.needsBefore && before < last
  const needsAfter = findings.needsAfter && after < last
  if (track.isScattered || !(needsBefore || needsAfter)) return false
  // What was remembered may have fewer fixes than the smallest window, on both sides.
  if (needsBefore || before < 0) track.before++
  if (needsAfter || after < 0) track.after++
  return true
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
  let open = tracks.filter((track) => track.sent.length > 0 && signals.get(track)?.length)
  while (open.length > 0) {
    const further: DeviceTrack[] = []
    for (const track of open)
      if (await needsMore(track, signals.get(track) ?? [], context)) further.push(track)
    open = further
    if (open.length > 0) await readMore(db, context, open)
  }
}
