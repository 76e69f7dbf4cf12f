import type { SQL } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { nameOf } from '../db/queries/namedDevices.ts'
import type { Statement } from '../db/statement.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { type CompiledRules, loadRules, NO_RULES } from '../rules/evaluate/cache.ts'
import { evaluateTracks } from '../rules/evaluate/evaluateTracks.ts'
import { hitsPerDevice, toRaises } from '../rules/evaluate/hits.ts'
import { evictMemory, remember } from '../rules/evaluate/memory.ts'
import {
  type DeviceTrack,
  findAdded,
  findTracks,
  mayConcern,
  type ReportWork,
  type Tracks,
} from '../rules/evaluate/tracks.ts'
import type { AssumedState, Batch } from './arrival.ts'
import type { Packed } from './batch.ts'
import { findFaults, type Incredible, separateTooFast, toQuarantined } from './credibility.ts'
import { prepareQuarantine, type Quarantined } from './quarantine.ts'

/*
 * Looks at arrivals before they are stored: which are credible, and what the rules find in those. The
 * guard of the batch checks that devices, tracks and rules are still those that this has seen.
 */

export interface Evaluation {
  /**
   * Of each name, as JSON: device id, identifier, then the device's key, whether it is active, and
   * its highest speed. Null for one device that is named by its id and whose speed is not checked.
   */
  expected: string | null
  /** How many names are of a device. */
  found: number
  /** Parts of the tracks as JSON: device key, from, to, number of locations. */
  tracks: string
  /** The stays of the devices, as JSON, and those that change; null for none. */
  stays: string | null
  nextStays: string | null
  /** One more than the longest part of the tracks has. */
  maxCounted: number
  /** How many locations the guard counts. */
  guardRows: number
  retentionDays: number | null
  /** Whether something is to be stored that was not. */
  isAnyNew: boolean
  hits: PendingRaise[]
  /** Neither stored nor evaluated. */
  incredible: Incredible
  quarantined: Quarantined[]
  /** The statements that quarantine them. */
  quarantine: ((isCurrent: SQL) => Statement[]) | null
  /** Remembers the last fixes of the devices, once the new ones are stored. */
  remember: () => void
  /** Evicts what is remembered, after a lost race. */
  evict: () => void
}

const toHits = async (tracks: DeviceTrack[], batch: Batch): Promise<PendingRaise[]> => {
  const withHits = tracks.flatMap(({ device, hits }) =>
    hits.length > 0 ? [{ deviceId: device.id, hits }] : [],
  )
  const limit = hitsPerDevice(withHits.length)
  const raises = withHits.map(({ deviceId, hits }) =>
    toRaises(hits, { deviceId, origin: batch.origin, now: batch.now, limit }),
  )
  return (await Promise.all(raises)).flat()
}

const pack = (rows: unknown[]): string | null => (rows.length > 0 ? JSON.stringify(rows) : null)

/** What the guard compares with the stored state. */
const toGuard = (
  { devices, now }: Batch,
  { tracks, expected, retentionDays }: Tracks,
  quarantined: Quarantined[],
  { isOne, hasStays }: { isOne: boolean; hasStays: boolean },
) => {
  const isSeparated = new Set(quarantined.map(({ device }) => device.key))
  const extended = tracks.filter((track) => findAdded(track, now).length > 0)
  const parts = tracks
    // Of others nothing is written, so that their track may change.
    .filter((track) => isSeparated.has(track.device.key) || extended.includes(track))
    .flatMap(({ device, window }) =>
      window.segments.map(({ from, to, stored }) => [device.key, from, to, stored.length]),
    )
  const changing = extended.filter((track) => track.stays !== track.nextStays)
  // Also where none was seen: another report may have stored one meanwhile.
  const watched = hasStays ? extended : []
  const names = devices.map((device, part) => {
    const known = expected[part]
    const found = known ? [known.key, known.isActive ? 1 : 0, known.maxSpeed] : [null, 0, null]
    return [...nameOf(device), ...found]
  })
  return {
    expected: isOne ? null : JSON.stringify(names),
    found: expected.filter((known) => known !== null).length,
    tracks: JSON.stringify(parts),
    stays: pack(watched.map(({ device, stays }) => [device.key, stays])),
    nextStays: pack(changing.map(({ device, nextStays }) => [device.key, nextStays])),
    maxCounted: parts.reduce((most, [, , , count = 0]) => Math.max(most, count), 0) + 1,
    guardRows: parts.reduce((sum, [, , , count = 0]) => sum + count, 0),
    retentionDays,
    isAnyNew: extended.length > 0,
  }
}

type Attempted = AssumedState & { usesMemory: boolean; work: ReportWork }

/**
 * Null when there is nothing to look at. When the rules are others than assumed, returns their token
 * instead.
 */
export const evaluateArrivals = async (
  db: Database,
  batch: Batch,
  { rows, isOne }: Packed,
  { rulesVersion, timeZone, usesMemory, work }: Attempted,
): Promise<Evaluation | null | Pick<AssumedState, 'rulesVersion'>> => {
  const { viewer, devices, checksCredibility, now } = batch
  const { accountId } = viewer
  const compiled: CompiledRules =
    rulesVersion === null ? NO_RULES : await loadRules(db, accountId, rulesVersion, work.slices)
  if (compiled.version !== rulesVersion) return { rulesVersion: compiled.version }
  const names = devices.map(nameOf)
  if (!checksCredibility && !names.some((name) => mayConcern(compiled, name))) return null
  const incredible: Incredible = checksCredibility ? findFaults(devices, rows) : new Map()
  const context = { viewer, compiled, timeZone, now, usesMemory, work }
  const parts = rows.map((own, part) => ({
    name: names[part] ?? [null, null],
    rows: incredible.size > 0 ? own.filter((row) => !incredible.has(row)) : own,
  }))
  const found = await findTracks(db, context, parts)
  const { tracks } = found
  if (checksCredibility) for (const track of tracks) separateTooFast(track, rows, incredible)
  await evaluateTracks(db, context, tracks)
  const quarantined = incredible.size > 0 ? toQuarantined(devices, rows, tracks, incredible) : []
  return {
    ...toGuard(batch, found, quarantined, { isOne, hasStays: compiled.hasStays }),
    hits: await toHits(tracks, batch),
    incredible,
    quarantined,
    quarantine: quarantined.length > 0 ? await prepareQuarantine(db, accountId, quarantined) : null,
    remember: () => {
      for (const track of tracks) {
        const { device, window, used, name, nextStays: stays } = track
        if (window.segments.length === 0) continue
        const { version } = compiled
        remember(name, { accountId, version, device, window, stays, used }, findAdded(track, now))
      }
    },
    evict: () => {
      for (const name of names) evictMemory(accountId, name)
    },
  }
}
