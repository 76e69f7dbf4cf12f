import type { Watch, WatchBody } from '../../api/types.ts'
import { CHANNELS, type Channel } from '../../format/channels.ts'

/* What is typed into the form of a check-in. Numbers stay text until they are sent. */

export const WATCH_ALERT = 'MissedCheckIn'

export interface WatchDraft {
  name: string
  /** At most one. */
  devices: readonly string[]
  kind: 'due' | 'every'
  due: string | null
  hours: string
  minutes: string
  graceMinutes: string
  counts: Watch['counts']
  /** Empty: no reminder. */
  remindMinutes: string
  /** Empty: the usual one. */
  alertName: string
  emergency: boolean
  notifications: readonly Channel[]
}

const HOUR_MS = 3_600_000
const USUAL_HOURS = 6

/** For a device, if one is given. The deadline is a full hour, about six hours ahead. */
export const newWatchDraft = (deviceId: string | null, at: number): WatchDraft => ({
  name: '',
  devices: deviceId ? [deviceId] : [],
  kind: 'due',
  due: new Date((Math.ceil(at / HOUR_MS) + USUAL_HOURS) * HOUR_MS).toISOString(),
  hours: String(USUAL_HOURS),
  minutes: '0',
  graceMinutes: '15',
  counts: 'any',
  remindMinutes: '30',
  alertName: '',
  emergency: false,
  notifications: CHANNELS,
})

export const watchDraftOf = (watch: Watch, at: number): WatchDraft => {
  const empty = newWatchDraft(watch.deviceId, at)
  const every = watch.everyMinutes ?? null
  return {
    ...empty,
    name: watch.name,
    kind: every === null ? 'due' : 'every',
    ...(every === null
      ? { due: watch.nextDue }
      : { hours: String(Math.floor(every / 60)), minutes: String(every % 60) }),
    graceMinutes: String(watch.graceMinutes),
    counts: watch.counts,
    remindMinutes: watch.remindMinutes === null ? '' : String(watch.remindMinutes),
    alertName: watch.alertName === WATCH_ALERT ? '' : watch.alertName,
    emergency: watch.emergency,
    notifications: watch.notifications,
  }
}

/** What is no number is sent as it is, and the service says what is wrong with it. */
const numberOf = (typed: string): number => {
  const value = Number(typed)
  return (typed.trim() === '' || Number.isNaN(value) ? typed : value) as number
}

const intervalOf = ({ hours, minutes }: WatchDraft): number => {
  const total = Number(hours) * 60 + Number(minutes)
  return (Number.isNaN(total) ? `${hours}:${minutes}` : total) as number
}

/** What is sent: a deadline or an interval, never both. */
export const watchBodyOf = (draft: WatchDraft): WatchBody => ({
  name: draft.name.trim(),
  // Without one the service names it together with what else is missing.
  deviceId: draft.devices[0] as string,
  ...(draft.kind === 'due' ? { due: draft.due ?? '' } : { everyMinutes: intervalOf(draft) }),
  graceMinutes: numberOf(draft.graceMinutes),
  counts: draft.counts,
  remindMinutes: draft.remindMinutes.trim() === '' ? null : numberOf(draft.remindMinutes),
  alertName: draft.alertName.trim() || WATCH_ALERT,
  emergency: draft.emergency,
  notifications: [...draft.notifications],
})

/** The new deadline: so many minutes after the old one, or after now if that has passed. */
export const extendedDue = (nextDue: string, minutes: number, at: number): string =>
  new Date(Math.max(Date.parse(nextDue), at) + minutes * 60_000).toISOString()
