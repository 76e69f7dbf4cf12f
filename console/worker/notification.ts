import { workerText as text } from '../text/worker.ts'

/* What the service sends by push, and the notification that shows it. */

interface PushPayload {
  title: string
  body: string
  alertId: string | null
  emergency: boolean
  kind: string
  /** The path that acknowledges the alert as the recipient. */
  link: string | null
  /** The path that confirms that the notification was shown. */
  receipt: string | null
}

/** What a notification keeps for the click on it. */
export interface NotificationData {
  alertId: string | null
  link: string | null
  /** It says what became of an acknowledgement. */
  isOutcome?: boolean
}

/** TypeScript's own lack what few browsers have. */
export interface ShownOptions extends NotificationOptions {
  renotify?: boolean
  actions?: { action: string; title: string }[]
  data: NotificationData
}

export interface Shown {
  title: string
  options: ShownOptions
}

const LOOK = { icon: '/icons/192.png', badge: '/icons/badge.png' }
const ACKNOWLEDGE = { action: 'acknowledge', title: text.acknowledge }
const OPEN = { action: 'open', title: text.open }

const textOf = (value: unknown): string | null =>
  typeof value === 'string' && value !== '' ? value : null

/** Paths of this service only: a notification calls no other. */
const pathOf = (value: unknown, start: string): string | null => {
  const path = textOf(value)
  return path?.startsWith(start) ? path : null
}

/** Null for what is no message of the service. */
export const readPayload = (sent: string): PushPayload | null => {
  try {
    const given = JSON.parse(sent) as Record<string, unknown>
    const title = textOf(given.title)
    if (title === null) return null
    return {
      title,
      body: textOf(given.body) ?? '',
      alertId: textOf(given.alertId),
      emergency: given.emergency === true,
      kind: textOf(given.kind) ?? '',
      link: pathOf(given.link, '/a/'),
      receipt: pathOf(given.receipt, '/hooks/'),
    }
  } catch {
    return null
  }
}

/** Browsers must show something for every push, also for one that cannot be read. */
export const notificationOf = (payload: PushPayload | null): Shown => {
  if (!payload)
    return {
      title: text.brand,
      options: { ...LOOK, body: text.unreadable, data: { alertId: null, link: null } },
    }
  const { title, body, alertId, emergency, kind, link } = payload
  // A notice says what became of an alert: there is nothing to acknowledge.
  const isOpen = kind !== 'notice'
  return {
    title,
    options: {
      ...LOOK,
      body,
      // One notification for each alert; a later message replaces it and sounds again.
      ...(alertId && { tag: alertId, renotify: true }),
      requireInteraction: emergency && isOpen,
      actions: [...(link && isOpen ? [ACKNOWLEDGE] : []), ...(alertId ? [OPEN] : [])],
      data: { alertId, link },
    },
  }
}

/** Says in the place of the alert's notification whether it could be acknowledged. */
export const outcomeOf = (
  { title, data }: { title: string; data: NotificationData },
  isDone: boolean,
): Shown => ({
  title: isDone ? text.acknowledged : text.notAcknowledged,
  options: {
    ...LOOK,
    body: isDone ? title : `${title}\n${text.openIt}`,
    ...(data.alertId && { tag: data.alertId, renotify: !isDone }),
    requireInteraction: !isDone,
    actions: isDone ? [OPEN] : [ACKNOWLEDGE, OPEN],
    data: { ...data, isOutcome: true },
  },
})
