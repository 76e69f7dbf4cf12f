import { ALARMING, NUMBERS } from './fields.ts'
import { type Location, type Point, parseTime, type Track } from './track.ts'

const EARLIEST = Date.UTC(2000, 0, 1)
const MAX_AHEAD_MS = 600_000

export interface Checked {
  points: Point[]
  /** Sentences that begin with the place. */
  problems: string[]
  /** Points without a time, or with the time of one before them. */
  skipped: { withoutTime: number; sameTime: number }
  from: string | null
  to: string | null
}

const findTimeProblem = (dateTime: string | undefined, now: number): string | null => {
  const at = Date.parse(parseTime(dateTime) ?? '')
  if (Number.isNaN(at)) return `“${dateTime}” is no date and time that exists`
  if (at < EARLIEST) return `${dateTime} is before the year 2000`
  return at > now + MAX_AHEAD_MS ? `${dateTime} is in the future` : null
}

const findNumberProblem = (location: Location): string | null => {
  for (const [name, [min, max]] of Object.entries(NUMBERS)) {
    const value = location[name]
    if (value === undefined || value === null) {
      if (name === 'latitude' || name === 'longitude') return `${name} is missing`
    } else if (typeof value !== 'number') return `${name} is not a number`
    else if (value < min || value > max) return `${name} must be from ${min} to ${max}`
  }
  return null
}

/** Devices write −1 for a speed or a course that they do not know. */
const dropUnknown = (location: Location): Location => {
  const { speed, course, ...rest } = location
  return {
    ...rest,
    ...(speed !== undefined && !(Number(speed) < 0) && { speed }),
    ...(course !== undefined && !(Number(course) < 0) && { course }),
  }
}

const dropAlarming = (location: Location): Location =>
  Object.fromEntries(Object.entries(location).filter(([name]) => !ALARMING.has(name)))

export interface CheckOptions {
  now: number
  /** Whether alerts in the file are raised. */
  withAlerts: boolean
}

/** What can be sent of a track, in the order of the file, and what is wrong with the rest. */
export const checkTrack = (track: Track, { now, withAlerts }: CheckOptions): Checked => {
  const points: Point[] = []
  const problems: string[] = []
  const seen = new Set<string>()
  let sameTime = 0
  let from: string | null = null
  let to: string | null = null
  for (const { place, location } of track.points) {
    const kept = dropUnknown(withAlerts ? location : dropAlarming(location))
    const problem = findTimeProblem(kept.dateTime, now) ?? findNumberProblem(kept)
    if (problem) {
      problems.push(`${place}: ${problem}`)
      continue
    }
    const time = kept.dateTime ?? ''
    const key = `${kept.deviceId ?? ''} ${kept.identifier ?? ''} ${time}`
    if (seen.has(key)) {
      sameTime++
      continue
    }
    seen.add(key)
    points.push({ place, location: kept })
    if (from === null || time < from) from = time
    if (to === null || time > to) to = time
  }
  const { withoutTime } = track
  return { points, problems, skipped: { withoutTime, sameTime }, from, to }
}
