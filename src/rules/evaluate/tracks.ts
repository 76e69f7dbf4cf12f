import type { Database } from '../../db/open.ts'
import { packedFix } from '../../db/queries/fixes.ts'
import type { PackedLocation } from '../../db/queries/locations.ts'
import type { DeviceName } from '../../db/queries/namedDevices.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import { keptSince } from '../../domain/account/account.ts'
import { isForDevice } from '../../domain/rule/rule.ts'
import { type Day, localDay } from '../../domain/time/day.ts'
import { type Fix, firstFrom } from '../../domain/track/fix.ts'
import type { Slices } from '../../http/admission/slices.ts'
import type { CompiledRules } from './cache.ts'
import type { Segment } from './crossings.ts'
import type { Hit } from './foundHits.ts'
import { recall, type TrackDevice } from './memory.ts'
import { WINDOW_SIZES } from './report.ts'
import type { PairBudget } from './standstill.ts'
import {
  joinSegments,
  ROW_UNITS,
  readDeviceWindows,
  readWindows,
  type Span,
  type TrackWindow,
} from './window.ts'

/* The devices of new locations, each with as much of its track as it needs to be evaluated. */

/** A part of what arrived: who it is of, and its locations. */
export interface NamedRows {
  name: DeviceName
  rows: PackedLocation[]
}

/** What a report may cost, over all attempts to store it. */
export interface ReportWork {
  slices: Slices
  /** How many locations may be read beside the first of each window. */
  rowsLeft: number
  pairs: PairBudget
  /** Whether an emergency waits for it: then no long window is read. */
  isUrgent: boolean
}

export interface TrackContext {
  viewer: Viewer
  compiled: CompiledRules
  timeZone: string
  now: number
  /** False after a lost race: then what is remembered is outdated. */
  usesMemory: boolean
  work: ReportWork
}

/** An active device with new locations. */
export interface DeviceTrack {
  device: TrackDevice
  /** The positions of its parts: it may be named by its id and by its identifier. */
  parts: number[]
  name: DeviceName
  /** In order of time, each time once. */
  sent: Fix[]
  window: TrackWindow
  /** Its stays as they are stored, and as they are to be; null for none. */
  stays: string | null
  nextStays: string | null
  /** How many fixes before the first new one were needed. */
  used: number
  /** What the rules find. */
  hits: Hit[]
}

/** Which device each part names, or none, and whether that is active. The guard checks it. */
export type ExpectedDevice = { key: number; maxSpeed: number; isActive: boolean } | null

export interface Tracks {
  tracks: DeviceTrack[]
  expected: ExpectedDevice[]
  /** Null when no part names a device. */
  retentionDays: number | null
}

/** Whether rules may be for the device. Its groups, and an identifier's device, are read later. */
export const mayConcern = ({ rules }: CompiledRules, [deviceId]: DeviceName): boolean =>
  rules.length > 0 &&
  (deviceId === null ||
    rules.some(({ rule }) => rule.groups.length > 0 || isForDevice(rule, deviceId, [])))

const isInOrder = (rows: PackedLocation[]): boolean => {
  for (let at = 1; at < rows.length; at++)
    if ((rows[at]?.[0] as number) <= (rows[at - 1]?.[0] as number)) return false
  return true
}

/** Each time once, as the INSERT takes the first of several. In order of time. */
const fixesOf = (rows: PackedLocation[], members: string[]): Fix[] => {
  // As most reports are. A map of a thousand times takes five times as long as their fixes.
  if (isInOrder(rows)) return rows.map((row) => packedFix(row, members))
  const byTime = new Map<number, Fix>()
  for (const row of rows) {
    const time = row[0] as number
    if (!byTime.has(time)) byTime.set(time, packedFix(row, members))
  }
  return [...byTime.values()].sort((a, b) => a.time - b.time)
}

/** Those of the sent that the INSERT will store. */
export const findAdded = ({ window, sent }: DeviceTrack, now: number): Fix[] => {
  const since = keptSince(now, window.retentionDays)
  const isStored = (time: number) =>
    window.segments.some(({ stored }) => stored[firstFrom(stored, time)]?.time === time)
  return sent.filter(({ time }) => time >= since && !isStored(time))
}

/** All tracks as they are remembered; null when one has to be read. */
const recallTracks = (context: TrackContext, parts: NamedRows[]): Tracks | null => {
  const { viewer, compiled, now } = context
  const tracks: DeviceTrack[] = []
  for (const [at, { name, rows }] of parts.entries()) {
    const sent = fixesOf(rows, compiled.members)
    const known = recall({ ...viewer, name, sent, version: compiled.version, now })
    if (!known) return null
    const { device, window, stays } = known
    const unchanged = { stays, nextStays: stays, used: 0, hits: [] }
    tracks.push({ device, parts: [at], name, sent, window, ...unchanged })
  }
  const [retentionDays, ...others] = new Set(tracks.map(({ window }) => window.retentionDays))
  const isEachOnce = new Set(tracks.map(({ device }) => device.key)).size === tracks.length
  if (retentionDays === undefined || others.length > 0 || !isEachOnce) return null
  const expected = tracks.map(({ device }) => ({ ...device, isActive: true }))
  return { tracks, expected, retentionDays }
}

export const spanOf = (name: DeviceName, times: number[]): Span => {
  // `first` after `last`: nothing is read for a part without locations.
  if (times.length === 0) return { name, first: 1, last: 0 }
  return {
    name,
    first: times.reduce((least, time) => Math.min(least, time)),
    last: times.reduce((most, time) => Math.max(most, time)),
  }
}

export const timesOf = ({ sent }: DeviceTrack): number[] => sent.map(({ time }) => time)

const countStored = (segments: Segment[]): number =>
  segments.reduce((sum, { stored }) => sum + stored.length, 0)

/** How many fixes are read before and after a location by itself. */
const NEIGHBOURS = 16

/** Reads the surroundings of each location by itself, where very many lie between them. */
const readScattered = async (
  db: Database,
  { viewer, compiled: { members }, work }: TrackContext,
  tracks: DeviceTrack[],
): Promise<void> => {
  const places = tracks.flatMap((track) =>
    timesOf(track).map((time) => ({ track, span: spanOf([track.device.id, null], [time]) })),
  )
  const spans = places.map(({ span }) => span)
  const size = { before: NEIGHBOURS, after: NEIGHBOURS }
  const segments = await readWindows(db, { viewer, spans, ...size, members })
  await work.slices.spend(countStored(segments) * ROW_UNITS)
  const byTrack = Map.groupBy(segments.keys(), (at) => places[at]?.track)
  for (const track of tracks) {
    const own = (byTrack.get(track) ?? []).flatMap((at) => segments[at] ?? [])
    track.window = { ...track.window, segments: joinSegments(own) }
  }
}

/** Reads every device with few locations around its own, in one round trip. */
const readAllTracks = async (
  db: Database,
  context: TrackContext,
  parts: NamedRows[],
): Promise<Tracks> => {
  const { viewer, compiled, timeZone, now, work } = context
  const [size] = WINDOW_SIZES
  const spans = parts.map(({ name, rows }) =>
    spanOf(
      name,
      rows.map((row) => row[0] as number),
    ),
  )
  const { members, hasStays } = compiled
  const query = { viewer, spans, before: size, after: size, members, hasStays }
  const { found, segments } = await readDeviceWindows(db, query)
  await work.slices.spend(countStored(segments) * ROW_UNITS)
  const today = localDay(now, timeZone)
  const isActive = ({ ends, day }: { ends: Day | null; day: Day }): boolean =>
    ends === null || (ends > day && ends > today)
  const expected: ExpectedDevice[] = parts.map(() => null)
  for (const state of found) {
    const { span, key, maxSpeed } = state
    expected[span] = { key, maxSpeed, isActive: isActive(state) }
  }
  const wide: DeviceTrack[] = []
  const tracks: DeviceTrack[] = []
  for (const states of Map.groupBy(found.filter(isActive), ({ key }) => key).values()) {
    const [state] = states
    if (!state) continue
    const own = states.map(({ span }) => span)
    const segment = segments[state.span]
    const sent = fixesOf(
      own.flatMap((at) => parts[at]?.rows ?? []),
      members,
    )
    const track: DeviceTrack = {
      device: { key: state.key, id: state.id, maxSpeed: state.maxSpeed },
      parts: own,
      name: parts[state.span]?.name ?? [state.id, null],
      sent,
      window: {
        retentionDays: state.retentionDays,
        groups: state.groups,
        // Without new locations nothing was read.
        segments: segment && sent.length > 0 ? [segment] : [],
      },
      stays: state.stays,
      nextStays: state.stays,
      used: 0,
      hits: [],
    }
    tracks.push(track)
    if (own.length > 1 || state.isWide) wide.push(track)
  }
  if (wide.length > 0) await readScattered(db, context, wide)
  return { tracks, expected, retentionDays: found[0]?.retentionDays ?? null }
}

/** The tracks of all active devices, as they are remembered or stored. */
export const findTracks = async (
  db: Database,
  context: TrackContext,
  parts: NamedRows[],
): Promise<Tracks> =>
  (context.usesMemory && recallTracks(context, parts)) || readAllTracks(db, context, parts)
