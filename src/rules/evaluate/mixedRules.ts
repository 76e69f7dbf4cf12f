import type { Database } from '../../db/open.ts'
import type { Viewer } from '../../db/queries/visibility.ts'
import type { PendingRaise } from '../../domain/message/pendingRaise.ts'
import type { Day } from '../../domain/time/day.ts'
import { canBeBoth } from '../../domain/track/credible.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { NamedDevice } from '../../ingest/mixedStatements.ts'
import { countsOf, findAdded, forgetDevice, mayConcern, rememberTrack } from './judgeTrack.ts'
import { judgeDevices, type MixedDevice, type NamedRows, readDevices } from './mixedTracks.ts'
import { shareOf, toRaises } from './reportHits.ts'
import { type CompiledRules, loadRules } from './ruleCache.ts'

/*
 * Judges a report of many devices by the account's rules before it is stored, as `reportRules` does
 * for one device. The report's INSERT checks that nothing has changed since, for all devices at once.
 */

export interface JudgedMixed {
  /** Parts of the tracks as JSON: device key, from, to, number of locations. */
  window: string
  /** What each report names as JSON: device id, identifier, key of the device, whether it is active. */
  expected: string
  /** How many of them name a device. */
  found: number
  /** Null when no report names a device. */
  retentionDays: number | null
  /** One location that will be new; null without any. */
  news: { key: number; time: number } | null
  hits: PendingRaise[]
  /** By report, the times of locations that may need too high a speed: they are left out. */
  held: Map<number, Set<number>>
  /** Whether the reports name the same devices as then, of an account with the same retention. */
  isSame: (devices: NamedDevice[], actual: { day: Day; retention_days: number }) => boolean
  /** Remembers the last fixes of the devices, once the report is stored. */
  remember: () => void
  /** After a lost race. */
  forget: () => void
}

export interface MixedToJudge {
  viewer: Viewer
  reports: NamedRows[]
  /** Whether locations are held back that may need too high a speed. */
  isJudged: boolean
  rulesVersion: string
  timeZone: string
  origin: string
  now: number
  /** Whether an attempt before lost its race: what is remembered is outdated. */
  isRetry: boolean
}

export type MixedRulesOutcome =
  | { judged: JudgedMixed | null }
  /** The rules have another token by now. */
  | { rulesVersion: string | null }

/** Leaves out what needs too high a speed beside the stored neighbours, which the guard checks. */
const holdBack = ({ track, state, window }: MixedDevice): Set<number> => {
  const stored = window.segments.flatMap((segment) => segment.stored)
  const toPlace = ({ time, latitude, longitude, accuracy }: Fix) => ({
    dateTime: time,
    latitude,
    longitude,
    accuracy: accuracy ?? 0,
  })
  const tooFast = findAdded(window, track.sent, track.now).filter((fix) =>
    [
      stored.findLast(({ time }) => time < fix.time),
      stored.find(({ time }) => time > fix.time),
    ].some((other) => other && !canBeBoth(toPlace(fix), toPlace(other), state.max_speed)),
  )
  return new Set(tooFast.map(({ time }) => time))
}

const toHits = async (devices: MixedDevice[], { origin, now }: MixedToJudge) => {
  const withHits = devices.filter(({ judged }) => (judged?.judgement.hits.length ?? 0) > 0)
  const limit = shareOf(withHits.length)
  const raises = withHits.map(({ state, judged }) =>
    toRaises(judged?.judgement.hits ?? [], { deviceId: state.id, origin, now, limit }),
  )
  return (await Promise.all(raises)).flat()
}

/** Whether rules may be for any device of the report. Identifiers are not known yet. */
const mayConcernAny = (compiled: CompiledRules, reports: NamedRows[]): boolean =>
  reports.some(({ name: [deviceId] }) => deviceId === null || mayConcern(compiled, deviceId))

export const judgeMixed = async (
  db: Database,
  report: MixedToJudge,
): Promise<MixedRulesOutcome> => {
  const { viewer, reports, rulesVersion, timeZone, now, isJudged } = report
  const compiled = await loadRules(db, viewer.accountId, rulesVersion)
  if (compiled.version !== rulesVersion) return { rulesVersion: compiled.version }
  if (!isJudged && !mayConcernAny(compiled, reports)) return { judged: null }
  const context = { viewer, compiled, timeZone, now, isRetry: report.isRetry }
  const { found, isActive, devices } = await readDevices(db, context, reports)
  const held = new Map<number, Set<number>>()
  if (isJudged)
    for (const device of devices) {
      const times = holdBack(device)
      device.track.sent = device.track.sent.filter(({ time }) => !times.has(time))
      if (times.size > 0) for (const at of device.reports) held.set(at, times)
    }
  await judgeDevices(db, context, devices)
  // Without anything new nothing is raised, so the track may change.
  const guarded = devices.flatMap(({ state, track, window, judged }) => {
    const added = judged?.added ?? (isJudged ? findAdded(window, track.sent, now) : [])
    return added
      .map(({ time }) => time)
      .slice(0, 1)
      .map((time) => ({
        key: state.key,
        time,
        segments: (judged?.window ?? window).segments,
      }))
  })
  const byReport = new Map(found.map((state) => [state.report, state]))
  return {
    judged: {
      window: JSON.stringify(
        guarded.flatMap(({ key, segments }) => countsOf(segments).map((part) => [key, ...part])),
      ),
      expected: JSON.stringify(
        reports.map(({ name }, at) => {
          const state = byReport.get(at)
          return [...name, state?.key ?? null, state && isActive(state) ? 1 : 0]
        }),
      ),
      found: found.length,
      retentionDays: found[0]?.retention_days ?? null,
      news: guarded[0] ?? null,
      hits: await toHits(devices, report),
      held,
      isSame: (others, { day, retention_days: retentionDays }) =>
        others.length === found.length &&
        others.every(({ report: at, key, ends }) => {
          const state = byReport.get(at)
          return (
            state?.key === key &&
            state.retention_days === retentionDays &&
            isActive(state) === isActive({ ends, day })
          )
        }),
      remember: () => {
        for (const { track, judged } of devices)
          if (judged) rememberTrack(track, judged)
          else forgetDevice(track.deviceId)
      },
      forget: () => {
        for (const { track } of devices) forgetDevice(track.deviceId)
      },
    },
  }
}
