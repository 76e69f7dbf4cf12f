import type { Alert } from '../api/types.ts'
import { titleOf } from '../app/EmergencyBar.tsx'
import { placeOf } from '../app/emergencies.ts'
import { formatPosition } from '../format/units.ts'
import { text } from '../text/text.ts'
import type { NotificationData, ShownOptions } from '../worker/notification.ts'

/* Desktop notifications of a tab that nobody looks at. */

type Registration = Pick<ServiceWorkerRegistration, 'getNotifications' | 'showNotification'>

/** The titles of those shown by this tab, by the ids of their alerts. */
const shown = new Map<string, string>()

/** In words as well, unless the device has moved since the service described where it is. */
const whereOf = (alert: Alert): string => {
  const at = placeOf(alert)
  if (!at) return text.emergency.noPosition
  const { latitude, longitude } = at
  const words = [alert, ...alert.updates, alert.newestPosition].findLast(
    (one) => one?.latitude === latitude && one.longitude === longitude,
  )?.place
  const position = formatPosition(latitude, longitude)
  return words ? `${words} (${position})` : position
}

const bodyOf = (alert: Alert): string => [whereOf(alert), alert.text].filter(Boolean).join('\n')

const show = async (registration: Registration, alert: Alert, title: string): Promise<void> => {
  const { id } = alert
  const isNew = !shown.has(id)
  shown.set(id, title)
  const before = await registration.getNotifications({ tag: id })
  // A push was here first, and it can be acknowledged.
  if (before.some(({ data }) => (data as NotificationData | null)?.link)) return
  const options: ShownOptions = {
    body: bodyOf(alert),
    tag: id,
    renotify: isNew,
    requireInteraction: true,
    icon: '/icons/192.png',
    badge: '/icons/badge.png',
    data: { alertId: id, link: null },
  }
  await registration.showNotification(title, options)
}

const close = async (registration: Registration, id: string): Promise<void> => {
  shown.delete(id)
  const all = await registration.getNotifications({ tag: id })
  for (const one of all) if (!(one.data as NotificationData | null)?.isOutcome) one.close()
}

let known: ReadonlySet<string> = new Set()

/** Notifies of new emergencies while the tab is hidden, and closes those that ended. */
export const showOnDesktop = (registration: Registration, open: readonly Alert[]): void => {
  const before = known
  known = new Set(open.map(({ id }) => id))
  for (const id of before) if (!known.has(id)) void close(registration, id).catch(() => undefined)
  for (const alert of open) {
    // The name of the device may come later than the alert.
    const title = titleOf(alert)
    const isNews = document.hidden && !before.has(alert.id)
    const isChanged = shown.has(alert.id) && shown.get(alert.id) !== title
    if ((isNews || isChanged) && Notification.permission === 'granted')
      void show(registration, alert, title).catch(() => undefined)
  }
}
