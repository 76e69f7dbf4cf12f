import type { Channel } from '../message/alert.ts'

/* Promises to report: by a deadline, or again and again. */

/** What is a check-in: any report, a message that says all is well, or only a person's own check-in. */
export const WATCH_COUNTS = ['any', 'message', 'checkIn'] as const
export type WatchCounts = (typeof WATCH_COUNTS)[number]

export const WATCH_STATES = ['active', 'overdue', 'completed', 'cancelled'] as const
export type WatchState = (typeof WATCH_STATES)[number]

/** The members of a watch that a client can write, except its device. Either `due` or `everyMinutes`. */
export interface WatchRecord {
  name: string
  due: number | null
  everyMinutes: number | null
  graceMinutes: number
  counts: WatchCounts
  /** How long before the deadline the device is reminded; null: never. */
  remindMinutes: number | null
  alertName: string
  emergency: boolean
  notifications: Channel[]
}

/** How far a watch has come. */
export interface WatchProgress {
  state: WatchState
  /** From when on what counts is a check-in. */
  since: number
  nextDue: number
  /** The deadline for which the reminder was sent. */
  reminded: number | null
  lastCheckIn: number | null
}

export const WATCH_ALERT = 'MissedCheckIn'
export const MAX_WATCHES = 1000
export const MAX_GRACE_MINUTES = 10_080
const MINUTE_MS = 60_000

const RANK: Record<WatchCounts, number> = { any: 0, message: 1, checkIn: 2 }

/** Whether a watch takes this for a check-in: a person's own is always one. */
export const isCheckIn = ({ counts }: Pick<WatchRecord, 'counts'>, given: WatchCounts): boolean =>
  RANK[given] >= RANK[counts]

/** A watch that starts now. */
export const startWatch = ({ due, everyMinutes }: WatchRecord, now: number): WatchProgress => ({
  state: 'active',
  since: now,
  nextDue: due ?? now + (everyMinutes ?? 0) * MINUTE_MS,
  reminded: null,
  lastCheckIn: null,
})

/** Whether it still waits for a check-in. */
export const isRunning = ({ state }: Pick<WatchProgress, 'state'>): boolean =>
  state === 'active' || state === 'overdue'

/** A check-in keeps the promise of a deadline, and sets an interval going again. */
export const checkIn = (
  { everyMinutes }: WatchRecord,
  progress: WatchProgress,
  at: number,
): WatchProgress => {
  const lastCheckIn = Math.max(at, progress.lastCheckIn ?? 0)
  if (everyMinutes === null) return { ...progress, state: 'completed', lastCheckIn }
  const nextDue = Math.max(progress.nextDue, at + everyMinutes * MINUTE_MS)
  return { ...progress, state: 'active', since: at, nextDue, lastCheckIn }
}

/** Moves the deadline; one that has passed is active again. */
export const extendWatch = (progress: WatchProgress, due: number): WatchProgress => ({
  ...progress,
  state: 'active',
  nextDue: due,
})

/** When it is overdue. */
export const overdueAt = ({ graceMinutes }: WatchRecord, { nextDue }: WatchProgress): number =>
  nextDue + graceMinutes * MINUTE_MS

/** When the device is reminded, or the deadline itself; null once that was done. */
export const remindAt = ({ remindMinutes }: WatchRecord, progress: WatchProgress): number | null =>
  progress.reminded === progress.nextDue
    ? null
    : progress.nextDue - (remindMinutes ?? 0) * MINUTE_MS

/** When the sweep has to look at it. */
export const checkAtOf = (record: WatchRecord, progress: WatchProgress): number =>
  Math.min(remindAt(record, progress) ?? Number.MAX_SAFE_INTEGER, overdueAt(record, progress))
