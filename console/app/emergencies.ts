import { computed, effect, signal } from '@preact/signals'
import { call } from '../api/client.ts'
import { rememberNames } from '../api/names.ts'
import type { Alert, AlertPage, Location } from '../api/types.ts'
import { type LiveEvent, live } from '../live/stream.ts'
import { newestPlace, type Place } from './newestPlace.ts'

/* Emergencies that nobody has acknowledged, and where they are. They are on top of every page. */

/** No event tells that an emergency was signalled again, nor, on most pages, that a device moved. */
const FOLLOW_INTERVAL_MS = 10_000
const MAX_DEVICES = 100

const isOpenEmergency = (alert: Alert): boolean =>
  !alert.acknowledged && !alert.cancelled && alert.emergency

/** Of 1000 emergencies that nobody has acknowledged; cancelled ones are among them. */
const MAX_PAGES = 10

const open = signal<readonly Alert[]>([])
/** The last position of each device that has an emergency. */
const positions = signal<ReadonlyMap<string, Place>>(new Map())

export const emergencies = computed(() =>
  [...open.value].sort((a, b) => b.dateTime.localeCompare(a.dateTime)),
)

/** The devices that have one. */
export const devicesInEmergency = computed(
  () => new Set(open.value.map(({ deviceId }) => deviceId)),
)

/** The newest known place of an emergency; null if there is none. */
export const placeOf = (alert: Alert): Place | null =>
  newestPlace(alert, positions.value.get(alert.deviceId))

const loadPositions = async (): Promise<void> => {
  const ids = [...devicesInEmergency.peek()].slice(0, MAX_DEVICES)
  if (ids.length === 0) return
  const { devices } = await call('GET /api/devices', { query: { ids: ids.join() } })
  rememberNames(devices)
  positions.value = new Map(
    devices.flatMap(({ id, lastLocation }) => (lastLocation ? [[id, lastLocation]] : [])),
  )
}

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
  await loadPositions()
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
  await loadPositions()
}

const receiveLocation = ({ data }: LiveEvent): void => {
  const deviceId = String(data.deviceId)
  const location = data.location as Location | null
  const known = positions.peek().get(deviceId)
  if (!location || !devicesInEmergency.peek().has(deviceId)) return
  if (!known || location.dateTime > known.dateTime)
    positions.value = new Map([...positions.peek(), [deviceId, location]])
}

/** Asks again and again while an emergency is open and somebody looks at the page. */
const follow = (): (() => void) => {
  const reloadIfSeen = () => document.visibilityState === 'visible' && reload()
  let timer: ReturnType<typeof setInterval> | undefined
  const hasSome = computed(() => open.value.length > 0)
  const stop = effect(() => {
    clearInterval(timer)
    if (hasSome.value) timer = setInterval(reloadIfSeen, FOLLOW_INTERVAL_MS)
  })
  return () => {
    stop()
    clearInterval(timer)
  }
}

export const startEmergencies = (): (() => void) => {
  reload()
  const stop = [
    live.on(
      ['alert.raised', 'alert.acknowledged', 'alert.cancelled'],
      (event) => void receive(event).catch(reload),
    ),
    live.on(['location.reported'], receiveLocation, { isPassive: true }),
    live.onGap(reload),
    follow(),
  ]
  return () => {
    for (const one of stop) one()
  }
}

export const acknowledge = async (alertId: string): Promise<void> => {
  const { alert } = await call('POST /api/alerts/{alertId}/acknowledge', { params: { alertId } })
  put(alert)
}
