import { iso, isoOrNull } from '../domain/time/iso.ts'
import { settleWatch, WATCH_PATH, type Watch } from '../domain/watch/watch.ts'

/** As it is now: the sweep may not have recorded yet what has happened. */
export const presentWatch = (watch: Watch, now: number) => {
  const { progress } = settleWatch(watch, now)
  return {
    id: watch.id,
    name: watch.name,
    deviceId: watch.deviceId,
    due: isoOrNull(watch.due),
    everyMinutes: watch.everyMinutes,
    graceMinutes: watch.graceMinutes,
    counts: watch.counts,
    remindMinutes: watch.remindMinutes,
    alertName: watch.alertName,
    emergency: watch.emergency,
    notifications: watch.notifications,
    state: progress.state,
    nextDue: iso(progress.nextDue),
    lastCheckIn: isoOrNull(progress.lastCheckIn),
    alertId: watch.alertId,
    creation: iso(watch.creation),
    lastModified: iso(watch.lastModified),
  }
}

export const watchUrl = (origin: string, { link }: Pick<Watch, 'link'>): string =>
  `${origin}${WATCH_PATH}${link}`
