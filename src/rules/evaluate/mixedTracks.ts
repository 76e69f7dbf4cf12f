import type { Database } from '../../db/open.ts'
import type { PackedLocation } from '../../db/queries/locations.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import { type Day, localDay } from '../../domain/time/day.ts'
import {
  fixesOf,
  type JudgedTrack,
  judgeFromMemory,
  judgeIn,
  type SentTrack,
  signalsFor,
} from './judgeTrack.ts'
import {
  type DeviceState,
  readDeviceWindows,
  readWindows,
  type SpanRows,
  toSegment,
} from './mixedWindow.ts'
import { WINDOW_SIZES } from './report.ts'
import { judgeFromTrack } from './reportRules.ts'
import { NEIGHBOURS, segmentsAround, type TrackWindow } from './reportWindow.ts'
import type { CompiledRules } from './ruleCache.ts'

/* The devices of a mixed report with as much of their tracks as their rules need. */

/** Who a part of the report is of, and its locations. */
export interface NamedRows {
  name: [deviceId: string | null, identifierKey: string | null]
  rows: PackedLocation[]
}

export interface MixedContext {
  viewer: Viewer
  compiled: CompiledRules
  timeZone: string
  now: number
  isRetry: boolean
}

/** An active device of the report. */
export interface MixedDevice {
  state: DeviceState
  /** The positions of its reports: it may be named by its id and by its identifier. */
  reports: number[]
  track: SentTrack
  isConcerned: boolean
  window: TrackWindow
  /** Whether the locations lie too far apart in the track to be read with all between them. */
  isWide: boolean
  /** Positions of `WINDOW_SIZES`. */
  before: number
  after: number
  judged: JudgedTrack | null
}

const spanOf = (times: number[]): { first: number; last: number } => {
  // After `last`: nothing is read for a report without locations.
  if (times.length === 0) return { first: 1, last: 0 }
  return {
    first: times.reduce((least, time) => Math.min(least, time)),
    last: times.reduce((most, time) => Math.max(most, time)),
  }
}

const timesOf = ({ track }: MixedDevice): number[] => track.sent.map(({ time }) => time)

const windowOf = (state: DeviceState, segments: TrackWindow['segments']): TrackWindow => ({
  retentionDays: state.retention_days,
  groups: JSON.parse(state.groups) as string[],
  segments,
})

/** Reads every device with few locations around its own, in one round trip. */
export const readDevices = async (
  db: Database,
  { viewer, compiled, timeZone, now }: MixedContext,
  reports: NamedRows[],
) => {
  const { wantsRest } = compiled
  const [size] = WINDOW_SIZES
  const { found, windows } = await readDeviceWindows(db, {
    viewer,
    spans: reports.map(({ name: [deviceId, identifierKey], rows }) => ({
      deviceId,
      identifierKey,
      ...spanOf(rows.map((row) => row[0] as number)),
    })),
    before: size,
    after: size,
    wantsRest,
  })
  const today = localDay(now, timeZone)
  const isActive = ({ ends, day }: { ends: Day | null; day: Day }): boolean =>
    ends === null || (ends > day && ends > today)
  const byKey = Map.groupBy(found, ({ key }) => key)
  const devices = [...byKey.values()].flatMap((states): MixedDevice[] => {
    const [state] = states as [DeviceState]
    const named = states.map(({ report }) => report)
    const rows = named.flatMap((at) => reports[at]?.rows ?? [])
    if (rows.length === 0 || !isActive(state)) return []
    const sent = fixesOf(rows, wantsRest)
    const track = { compiled, deviceId: state.id, sent, timeZone, now }
    const window = windowOf(state, [toSegment(windows[state.report] as SpanRows)])
    const isConcerned = signalsFor(compiled, state.id, window.groups).length > 0
    const isWide = named.length > 1 || state.is_wide === 1
    const start = { before: 0, after: 0, judged: null }
    return [{ state, reports: named, track, isConcerned, window, isWide, ...start }]
  })
  return { found, isActive, devices }
}

/** More are read around each location by itself, in one round trip for all. */
const MAX_SINGLE = 20

const readAround = async (
  db: Database,
  { viewer, compiled: { wantsRest } }: MixedContext,
  devices: MixedDevice[],
): Promise<void> => {
  const places = devices.flatMap((device) => timesOf(device).map((time) => ({ device, time })))
  const rows = await readWindows(db, {
    viewer,
    spans: places.map(({ device, time }) => ({
      deviceId: device.state.id,
      identifierKey: null,
      first: time,
      last: time,
    })),
    before: NEIGHBOURS,
    after: NEIGHBOURS,
    wantsRest,
  })
  const byDevice = Map.groupBy(rows.keys(), (at) => places[at]?.device)
  for (const device of devices) {
    const own = (byDevice.get(device) ?? []).flatMap((at) => rows[at]?.stored ?? [])
    const byTime = new Map(own.map((fix) => [fix.time, fix]))
    const stored = [...byTime.values()].sort((a, b) => a.time - b.time)
    const window = windowOf(device.state, segmentsAround(stored, timesOf(device)))
    device.judged = { ...judgeIn(window, device.track), window, size: NEIGHBOURS }
  }
}

const judgeWide = async (
  db: Database,
  context: MixedContext,
  devices: MixedDevice[],
): Promise<void> => {
  if (devices.length > MAX_SINGLE) return readAround(db, context, devices)
  for (const device of devices) {
    const ref = { ...context.viewer, deviceId: device.state.id }
    device.judged = await judgeFromTrack(db, ref, device.track)
  }
}

const readMore = async (
  db: Database,
  { viewer, compiled: { wantsRest } }: MixedContext,
  devices: MixedDevice[],
): Promise<void> => {
  const bySize = Map.groupBy(devices, ({ before, after }) => `${before} ${after}`)
  for (const alike of bySize.values()) {
    const { before, after } = alike[0] as MixedDevice
    const rows = await readWindows(db, {
      viewer,
      spans: alike.map((device) => ({
        deviceId: device.state.id,
        identifierKey: null,
        ...spanOf(timesOf(device)),
      })),
      before: WINDOW_SIZES[before] ?? 0,
      after: WINDOW_SIZES[after] ?? 0,
      wantsRest,
    })
    for (const [at, device] of alike.entries())
      device.window = windowOf(device.state, [toSegment(rows[at] as SpanRows)])
  }
}

/** Judges the device by its window; true when more of its track must be read. */
const needsMore = (device: MixedDevice, isRetry: boolean): boolean => {
  const { window, track } = device
  const found = judgeIn(window, track)
  device.judged = { ...found, window, size: WINDOW_SIZES[device.before] ?? 0 }
  const last = WINDOW_SIZES.length - 1
  const needsBefore = found.judgement.needsBefore && device.before < last
  const needsAfter = found.judgement.needsAfter && device.after < last
  if (!needsBefore && !needsAfter) return false
  const remembered = isRetry ? null : judgeFromMemory(track)
  if (remembered?.window.retentionDays === window.retentionDays) {
    device.judged = remembered
    return false
  }
  if (needsBefore) device.before++
  if (needsAfter) device.after++
  return true
}

/** Sets `judged` of every device that rules are for. */
export const judgeDevices = async (
  db: Database,
  context: MixedContext,
  devices: MixedDevice[],
): Promise<void> => {
  const concerned = devices.filter(({ isConcerned, track }) => isConcerned && track.sent.length > 0)
  await judgeWide(
    db,
    context,
    concerned.filter(({ isWide }) => isWide),
  )
  let open = concerned.filter(({ isWide }) => !isWide)
  while (open.length > 0) {
    open = open.filter((device) => needsMore(device, context.isRetry))
    if (open.length > 0) await readMore(db, context, open)
  }
}
