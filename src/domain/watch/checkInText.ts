import { nextClockTime } from '../time/schedule.ts'
import { MAX_WATCH_MINUTES, type WatchCounts } from './watch.ts'

/* What somebody writes on a device to check in, to set a deadline or to end a watch. */

export type CheckInText =
  | { action: 'checkIn'; given: WatchCounts }
  /** A deadline: so long after the message, or the next such time of day. */
  | { action: 'promise'; minutes: number }
  | { action: 'promise'; clock: string }
  | { action: 'repeat'; everyMinutes: number }
  | { action: 'complete' }

/** Longer texts are no check-in, whatever they begin with. */
const MAX_LENGTH = 40
const MINUTE_MS = 60_000

const CHECK_IN = /^CHECK[\s\p{Pd}]*IN\s*(.*)$/u
const DURATION = /^(EVERY\s*)?(\d{1,5})\s*(H|HRS?|HOURS?|M|MINS?|MINUTES?)$/
const CLOCK = /^([01]?\d|2[0-3]):([0-5]\d)$/

/**
 * Null for any other text, also for a check-in with an addition that is not understood: taken for a
 * plain one, “CHECK-IN IN 2 DAYS” would end a watch.
 */
export const readCheckIn = (text: string): CheckInText | null => {
  if (text.length > MAX_LENGTH) return null
  const written = text
    .normalize('NFKC')
    .toUpperCase()
    .trim()
    .replace(/[.!]+$/, '')
    .trimEnd()
  if (written === 'OK') return { action: 'checkIn', given: 'message' }
  const addition = CHECK_IN.exec(written)?.[1]
  if (addition === undefined) return null
  if (addition === '') return { action: 'checkIn', given: 'checkIn' }
  if (addition === 'END') return { action: 'complete' }
  const [, hour, minute] = CLOCK.exec(addition) ?? []
  if (hour && minute) return { action: 'promise', clock: `${hour.padStart(2, '0')}:${minute}` }
  const [, every, count, unit] = DURATION.exec(addition) ?? []
  const minutes = Number(count) * (unit?.startsWith('H') ? 60 : 1)
  if (!(minutes > 0 && minutes <= MAX_WATCH_MINUTES)) return null
  return every ? { action: 'repeat', everyMinutes: minutes } : { action: 'promise', minutes }
}

/** The deadline that a message of this time sets. */
export const dueOf = (
  promise: Extract<CheckInText, { action: 'promise' }>,
  at: number,
  timeZone: string,
): number =>
  'clock' in promise ? nextClockTime(promise.clock, at, timeZone) : at + promise.minutes * MINUTE_MS
