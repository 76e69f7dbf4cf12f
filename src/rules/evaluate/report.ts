import { type Box, boxOfPlaces } from '../../domain/geo/geodesy.ts'
import { isShapeApart } from '../../domain/geo/zoneGeometry.ts'
import { isScheduled } from '../../domain/time/schedule.ts'
import type { Fix } from '../../domain/track/fix.ts'
import { evaluateWindow, type Window } from './crossings.ts'
import type { CompiledZone, Signal } from './signals.ts'

/* What all rules of a device find in a report. */

/**
 * How many fixes before and after a report are read: first the few that nearly always suffice, then
 * more. Beyond the last, the first decided fix is a baseline.
 */
export const WINDOW_SIZES = [4, 64, 1024] as const

/** A part of the stored track without gaps, from the instant `from` to the instant `to`. */
export interface Segment {
  from: number
  to: number
  stored: Fix[]
  /** Nothing is stored before, or after, this part. */
  isStart: boolean
  isEnd: boolean
}

export interface Hit {
  signal: Signal
  fix: Fix
  zone: CompiledZone | null
}

export interface ReportFindings {
  hits: Hit[]
  needsBefore: boolean
  needsAfter: boolean
}

/** Puts the new fixes, in order of time, among the stored ones. */
export const toWindow = (segment: Segment, added: Fix[]): Window => {
  const fixes: Fix[] = []
  const isNew: boolean[] = []
  let next = 0
  for (const fix of segment.stored) {
    for (let given = added[next]; given && given.time < fix.time; given = added[++next]) {
      fixes.push(given)
      isNew.push(true)
    }
    fixes.push(fix)
    isNew.push(false)
  }
  for (const fix of added.slice(next)) {
    fixes.push(fix)
    isNew.push(true)
  }
  const { isStart, isEnd } = segment
  return { fixes, isNew, isStart, isEnd }
}

/** The value at every fix by itself is 0 where all are far from the signal's zones. */
const isFarAway = ({ zones, rule }: Signal, places: Box, maxAccuracy: number): boolean => {
  const margin = Math.max(maxAccuracy, rule.hysteresis.metres)
  return zones?.every(({ shape }) => isShapeApart(shape, places, margin)) === true
}

const maxAccuracyOf = (fixes: Fix[]): number => {
  let max = 0
  for (const { accuracy } of fixes) if (accuracy !== null && accuracy > max) max = accuracy
  return max
}

/** Evaluates the new fixes, in order of time, in the parts of the track around them. */
export const evaluateReport = (
  signals: readonly Signal[],
  segments: readonly Segment[],
  added: Fix[],
  timeZone: string,
): ReportFindings => {
  const result: ReportFindings = { hits: [], needsBefore: false, needsAfter: false }
  for (const segment of segments) {
    const own = added.filter(({ time }) => time >= segment.from && time <= segment.to)
    if (own.length === 0) continue
    const fixes = segment.stored.concat(own)
    const places = boxOfPlaces(fixes)
    const maxAccuracy = maxAccuracyOf(fixes)
    const firstTime = own[0]?.time ?? 0
    // Far away, as many fixes as must agree say that the device was out of the zone before.
    const wasOutside = (count: number) =>
      segment.isStart || (segment.stored[count - 1]?.time ?? Number.POSITIVE_INFINITY) < firstTime
    const near = signals.filter(
      (signal) =>
        !isFarAway(signal, places, maxAccuracy) ||
        !(signal.isRising || wasOutside(signal.rule.hysteresis.fixes)),
    )
    if (near.length === 0) continue
    const window = toWindow(segment, own)
    for (const signal of near) {
      const { crossings, needsBefore, needsAfter } = evaluateWindow(signal, window)
      result.needsBefore ||= needsBefore
      result.needsAfter ||= needsAfter
      for (const { fix, isRising } of crossings) {
        if (isRising !== signal.isRising || fix.time < signal.since) continue
        if (!isScheduled(signal.rule.schedule, fix.time, timeZone)) continue
        result.hits.push({ signal, fix, zone: signal.zoneAt(fix) })
      }
    }
  }
  result.hits.sort((a, b) => a.fix.time - b.fix.time)
  return result
}
