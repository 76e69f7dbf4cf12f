import { DEFAULT_MAX_SPEED } from '../../domain/account/device.ts'
import { distanceMetres } from '../../domain/geo/geodesy.ts'
import type { Limits } from '../../domain/rule/rule.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { Values } from './durations.ts'
import { isBeyond, restrictTo, type SignalValue, STANDSTILL_METRES } from './signals.ts'

/* The speed between two fixes, where a tracker reports none. */

/** Between fixes that are nearer in time, errors of their places would make a speed. */
export const MIN_SPEED_MS = 30_000
/** Fixes that are farther apart say too little about the way between them. */
const MAX_SPEED_MS = 3_600_000
const KMH_PER_METRE_PER_MS = 3600

const isPrecise = ({ accuracy }: Fix): boolean => (accuracy ?? 0) <= STANDSTILL_METRES

interface Speed {
  /** km/h */
  speed: number
  /** How much it may differ, by the accuracies of both fixes. */
  error: number
}

/** The mean speed on the straight line; null when it is not credible. */
const speedBetween = (a: Fix, b: Fix): Speed | null => {
  const factor = KMH_PER_METRE_PER_MS / (b.time - a.time)
  const speed = distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude) * factor
  const error = ((a.accuracy ?? 0) + (b.accuracy ?? 0)) * factor
  return speed - error > DEFAULT_MAX_SPEED ? null : { speed, error }
}

/** Undecided where the limit is within the error. */
const compare = ({ speed, error }: Speed, limits: Limits): SignalValue => {
  const least = isBeyond(Math.max(0, speed - error), limits)
  return least === isBeyond(speed + error, limits) ? least : null
}

/**
 * Compares the reported speed or else the one since the last precise fix that is at least
 * `MIN_SPEED_MS` earlier. `within` says whether each fix is in the zones of the rule.
 */
export const compareSpeeds = (
  fixes: Fix[],
  within: SignalValue[],
  limits: Limits,
  isStart: boolean,
): Values & { speeds: (number | null)[] } => {
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const speeds: (number | null)[] = []
  let next = 0
  let reference: Fix | undefined
  for (const [index, fix] of fixes.entries()) {
    for (; (fixes[next] as Fix).time <= fix.time - MIN_SPEED_MS; next++)
      if (isPrecise(fixes[next] as Fix)) reference = fixes[next]
    const isComputed = fix.speed === null && isPrecise(fix)
    const isNear = reference !== undefined && reference.time >= fix.time - MAX_SPEED_MS
    const given = fix.speed === null ? null : { speed: fix.speed, error: 0 }
    const found = isComputed && isNear ? speedBetween(reference as Fix, fix) : given
    const value = found && compare(found, limits)
    values.push(restrictTo(value, within[index] ?? null))
    const isReached = (fixes[0] as Fix).time < fix.time - MAX_SPEED_MS
    isSure.push(!isComputed || reference !== undefined || isReached || isStart)
    speeds.push(found?.speed ?? null)
  }
  return { values, isSure, speeds }
}
