import { isScheduled } from '../../domain/time/schedule.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { WindowFindings } from './crossings.ts'
import type { CompiledZone, Signal } from './signals.ts'
import type { ZonesAtFix } from './zonesAtFix.ts'

/* Crossings that a rule raises alerts for. */

export interface Hit {
  signal: Signal
  fix: Fix
  zone: CompiledZone | null
  /** What passed its limit. */
  value: number | null
}

/** More hits in one report are not described: a report raises few. Emergencies come first. */
const MAX_HITS = 20_000

interface Crossings extends Pick<WindowFindings, 'crossings'> {
  zones: ZonesAtFix
  timeZone: string
  includesEarlier: boolean
}

export const addHits = (
  hits: Hit[],
  signal: Signal,
  { crossings, zones, timeZone, includesEarlier }: Crossings,
): void => {
  for (const { fix, isRising, speed } of crossings) {
    if (hits.length >= MAX_HITS) return
    if (isRising !== signal.isRising) continue
    if (fix.time < signal.since && !includesEarlier) continue
    if (!isScheduled(signal.rule.schedule, fix.time, timeZone)) continue
    const value = speed ?? signal.valueAt(fix)
    hits.push({ signal, fix, zone: signal.zoneAt(fix, zones), value })
  }
}
