import { distanceMetres } from '../../domain/geo/geodesy.ts'
import { canBeBoth } from '../../domain/track/credible.ts'
import type { Fix } from '../../domain/track/fix.ts'
import type { Values } from './durations.ts'
import { isBeyond, restrictTo, type SignalValue, type SpeedLimits } from './signals.ts'
import { isPrecise } from './standstill.ts'

/* The speed between two fixes, where a tracker reports none. */

/** Between fixes that are nearer in time, errors of their places would make a speed. */
export const MIN_SPEED_MS = 30_000
/** The way is at least the straight line, so that fixes far apart in time still show a high speed. */
const MAX_FAST_MS = 86_400_000
/** They show a low one only if they are nearer: the way may be much longer than the line. */
const MAX_SLOW_MS = 3_600_000
const KMH_PER_METRE_PER_MS = 3600

interface Speed {
  /** km/h */
  speed: number
  /** How much it may differ, by the accuracies of both fixes. */
  error: number
}

/** The mean speed on the straight line; null when the device cannot have been at both places. */
const speedBetween = (a: Fix, b: Fix, maxSpeed: number): Speed | null => {
  if (!canBeBoth(a, b, maxSpeed)) return null
  const factor = KMH_PER_METRE_PER_MS / (b.time - a.time)
  const speed = distanceMetres(a.latitude, a.longitude, b.latitude, b.longitude) * factor
  const error = ((a.accuracy ?? 0) + (b.accuracy ?? 0)) * factor
  return { speed, error }
}

/** Undecided where the limit is within the error. */
const compare = ({ speed, error }: Speed, limits: SpeedLimits): SignalValue => {
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
  limits: SpeedLimits,
  isStart: boolean,
): Values & { speeds: (number | null)[] } => {
  const maxMs = limits.below === undefined ? MAX_FAST_MS : MAX_SLOW_MS
  const values: SignalValue[] = []
  const isSure: boolean[] = []
  const speeds: (number | null)[] = []
  let next = 0
  let reference: Fix | undefined
  for (const [index, fix] of fixes.entries()) {
    for (; (fixes[next] as Fix).time <= fix.time - MIN_SPEED_MS; next++)
      if (isPrecise((fixes[next] as Fix).accuracy, 0)) reference = fixes[next]
    const isComputed = fix.speed === null && isPrecise(fix.accuracy, 0)
    const isNear = reference !== undefined && reference.time >= fix.time - maxMs
    const given = fix.speed === null ? null : { speed: fix.speed, error: 0 }
    const found =
      isComputed && isNear ? speedBetween(reference as Fix, fix, limits.maxSpeed) : given
    const value = found && compare(found, limits)
    values.push(restrictTo(value, within[index] ?? null))
    const isReached = (fixes[0] as Fix).time < fix.time - maxMs
    isSure.push(!isComputed || reference !== undefined || isReached || isStart)
    speeds.push(found?.speed ?? null)
  }
  return { values, isSure, speeds }
}
