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

/** A watch as the cell has it. */
export interface Watch extends WatchRecord, WatchProgress {
  id: string
  accountId: string
  deviceId: string
  deviceKey: number
  /** The latest arrival of anything from the device; 0 before the first. */
  contact: number
  /** The alert that it raised last. */
  alertId: string | null
  /** By which people check in without signing in. */
  link: string
  creation: number
  lastModified: number
  version: number
}

export const progressOf = (watch: WatchProgress): WatchProgress => {
  const { state, since, nextDue, reminded, lastCheckIn } = watch
  return { state, since, nextDue, reminded, lastCheckIn }
}

export const WATCH_ALERT = 'MissedCheckIn'
export const WATCH_PATH = '/c/'
/** How many of an account. Beyond it, those that ended first make way for new ones. */
export const MAX_WATCHES = 1000
export const MAX_WATCH_MINUTES = 43_200
export const MAX_GRACE_MINUTES = 10_080
const MINUTE_MS = 60_000

const RANK: Record<WatchCounts, number> = { any: 0, message: 1, checkIn: 2 }

/** Whether a watch takes this for a check-in: a person's own is always one. */
export const isCheckIn = ({ counts }: Pick<WatchRecord, 'counts'>, given: WatchCounts): boolean =>
  RANK[given] >= RANK[counts]

type Promised = Pick<WatchRecord, 'due' | 'everyMinutes'>

/** A watch that starts now. */
export const startWatch = ({ due, everyMinutes }: Promised, now: number): WatchProgress => ({
  state: 'active',
  since: now,
  nextDue: due ?? now + (everyMinutes ?? 0) * MINUTE_MS,
  reminded: null,
  lastCheckIn: null,
})

/** Whether it still waits for a check-in. */
export const isRunning = ({ state }: Pick<WatchProgress, 'state'>): boolean =>
  state === 'active' || state === 'overdue'

/**
 * A check-in keeps the promise of a deadline, and sets an interval going again. A repeat of the last
 * one, or one from before the watch began, changes nothing.
 */
export const checkIn = (
  { everyMinutes }: Promised,
  progress: WatchProgress,
  at: number,
): WatchProgress => {
  if (!isRunning(progress) || at < progress.since || at === progress.lastCheckIn) return progress
  if (everyMinutes === null) return { ...progress, state: 'completed', lastCheckIn: at }
  const nextDue = Math.max(progress.nextDue, at + everyMinutes * MINUTE_MS)
  return { ...progress, state: 'active', since: at, nextDue, lastCheckIn: at }
}

/**
 * Moves the deadline; one that has passed is active again. What was said before, and arrives late, is
 * no check-in for the new one.
 */
export const extendWatch = (progress: WatchProgress, due: number, at: number): WatchProgress => ({
  ...progress,
  state: 'active',
  since: Math.max(progress.since, at),
  nextDue: due,
})

/**
 * The progress after an edit. Another deadline, interval or device starts it anew; what counts from
 * now on is not looked for in the past. Null for another promise of a watch that has ended.
 */
export const editProgress = (
  before: Watch,
  after: WatchRecord & { deviceId: string },
  now: number,
): WatchProgress | null => {
  const progress = progressOf(before)
  const isSame =
    before.due === after.due &&
    before.everyMinutes === after.everyMinutes &&
    before.deviceId === after.deviceId
  if (isSame) return before.counts === after.counts ? progress : { ...progress, since: now }
  const { lastCheckIn } = before
  return isRunning(before) ? { ...startWatch(after, now), lastCheckIn } : null
}

/** When it is overdue. */
export const overdueAt = (
  { graceMinutes }: Pick<WatchRecord, 'graceMinutes'>,
  { nextDue }: Pick<WatchProgress, 'nextDue'>,
): number => nextDue + graceMinutes * MINUTE_MS

/** When the device is reminded, or the deadline itself; null once that was done. */
const remindAt = (
  { remindMinutes }: Pick<WatchRecord, 'remindMinutes'>,
  { reminded, nextDue }: Pick<WatchProgress, 'reminded' | 'nextDue'>,
): number | null => (reminded === nextDue ? null : nextDue - (remindMinutes ?? 0) * MINUTE_MS)

/** When the sweep has to look at it. */
export const checkAtOf = (record: WatchRecord, progress: WatchProgress): number =>
  Math.min(remindAt(record, progress) ?? Number.MAX_SAFE_INTEGER, overdueAt(record, progress))

/** The progress with the device's last contact, where any contact counts. */
export const countContact = (watch: Watch): WatchProgress => {
  const progress = progressOf(watch)
  const isFound = isCheckIn(watch, 'any') && watch.contact > watch.since
  return isFound ? checkIn(watch, progress, watch.contact) : progress
}

interface Settlement {
  progress: WatchProgress
  /** The contact that is a check-in and was not recorded as one. */
  checkedInAt: number | null
  /** Whether the reminder's time, or the deadline, has come. */
  isDue: boolean
  isOverdue: boolean
}

/** What has become of a watch by now: what reads show and the sweep records. */
export const settleWatch = (watch: Watch, now: number): Settlement => {
  const found = countContact(watch)
  const checkedInAt = found.lastCheckIn === watch.lastCheckIn ? null : found.lastCheckIn
  if (found.state !== 'active')
    return { progress: found, checkedInAt, isDue: false, isOverdue: false }
  const reminder = remindAt(watch, found)
  const isDue = reminder !== null && reminder <= now
  const isOverdue = overdueAt(watch, found) <= now
  const progress: WatchProgress = {
    ...found,
    ...(isDue && { reminded: found.nextDue }),
    ...(isOverdue && { state: 'overdue' }),
  }
  return { progress, checkedInAt, isDue, isOverdue }
}
