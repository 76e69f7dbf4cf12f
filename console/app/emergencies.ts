import { computed, signal } from '@preact/signals'
import { call } from '../api/client.ts'
import type { Alert, AlertPage } from '../api/types.ts'
import { type LiveEvent, live } from '../live/stream.ts'

/* Emergencies that nobody has acknowledged. They are on top of every page. */

const isOpenEmergency = (alert: Alert): boolean =>
  !alert.acknowledged && !alert.cancelled && alert.emergency

/** Of 1000 emergencies that nobody has acknowledged; cancelled ones are among them. */
const MAX_PAGES = 10

const open = signal<readonly Alert[]>([])

export const emergencies = computed(() =>
  [...open.value].sort((a, b) => b.dateTime.localeCompare(a.dateTime)),
)

/** The devices that have one. */
export const devicesInEmergency = computed(
  () => new Set(open.value.map(({ deviceId }) => deviceId)),
)

const put = (alert: Alert): void => {
  const others = open.peek().filter(({ id }) => id !== alert.id)
  open.value = isOpenEmergency(alert) ? [...others, alert] : others
}

const load = async (): Promise<void> => {
  await live.opened()
  const found: Alert[] = []
  let cursor: string | null = null
  for (let page = 0; page < MAX_PAGES; page++) {
    const reply: AlertPage = await call('GET /api/alerts', {
      query: { emergency: true, acknowledged: false, sort: '-dateTime', cursor },
    })
    found.push(...reply.alerts.filter(isOpenEmergency))
    cursor = reply.nextCursor
    if (cursor === null) break
  }
  open.value = found
}

const reload = () => void load().catch(() => undefined)

const receive = async ({ type, data }: LiveEvent): Promise<void> => {
  const alertId = String(data.alertId)
  if (type === 'alert.acknowledged' || type === 'alert.cancelled') {
    open.value = open.peek().filter(({ id }) => id !== alertId)
    return
  }
  const { alert } = await call('GET /api/alerts/{alertId}', { params: { alertId } })
  put(alert)
}

export const startEmergencies = (): (() => void) => {
  reload()
  const stop = [
    live.on(
      ['alert.raised', 'alert.acknowledged', 'alert.cancelled'],
      (event) => void receive(event).catch(reload),
    ),
    live.onGap(reload),
  ]
  return () => {
    for (const one of stop) one()
  }
}

export const acknowledge = async (alertId: string): Promise<void> => {
  const { alert } = await call('POST /api/alerts/{alertId}/acknowledge', { params: { alertId } })
  put(alert)
}
