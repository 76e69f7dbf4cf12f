import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { iso } from '../domain/time/iso.ts'
import {
  overdueAt,
  type Watch,
  type WatchCounts,
  type WatchProgress,
} from '../domain/watch/watch.ts'
import { deriveId } from '../ids.ts'
import type { WatchChange } from './rows.ts'

/* What a watch reports. The same occasion always makes the same ids, so that it is reported once. */

type WatchEvent = WatchChange['events'][number]

export const checkedInEvent = (
  { id: watchId }: Watch,
  { state, nextDue }: WatchProgress,
  { at, given, now }: { at: number; given: WatchCounts; now: number },
): WatchEvent => ({
  id: `evt_${watchId}_checkedIn_${at}`,
  type: 'watch.checkedIn',
  time: now,
  data: { watchId, dateTime: iso(at), counts: given, state, nextDue: iso(nextDue) },
})

export const dueEvent = (
  { id: watchId }: Watch,
  { nextDue }: WatchProgress,
  now: number,
): WatchEvent => ({
  id: `evt_${watchId}_due_${nextDue}`,
  type: 'watch.due',
  time: now,
  data: { watchId, nextDue: iso(nextDue) },
})

export const overdueEvent = (
  { id: watchId }: Watch,
  { nextDue }: WatchProgress,
  { alertId, now }: { alertId: string; now: number },
): WatchEvent => ({
  id: `evt_${watchId}_overdue_${nextDue}`,
  type: 'watch.overdue',
  time: now,
  data: { watchId, nextDue: iso(nextDue), alertId },
})

/** `2027-03-03 18:00 UTC`. */
const inUtc = (at: number): string => `${iso(at).slice(0, 16).replace('T', ' ')} UTC`

/** The alert of a missed check-in. */
export const toMissedAlert = async (
  watch: Watch,
  progress: WatchProgress,
  origin: string,
): Promise<PendingRaise> => {
  const { nextDue } = progress
  const dateTime = overdueAt(watch, progress)
  return {
    deviceId: watch.deviceId,
    alert: {
      id: await deriveId('alr', dateTime, `${watch.id} ${nextDue}`),
      name: watch.alertName,
      text: `${watch.name}: no check-in by ${inUtc(nextDue)}.`,
      dateTime,
    },
    emergency: watch.emergency,
    reported: null,
    notifications: watch.notifications,
    origin,
  }
}
