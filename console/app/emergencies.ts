import { computed, effect, signal } from '@preact/signals'
import { call } from '../api/client.ts'
import { readAll } from '../api/list.ts'
import { rememberNames } from '../api/names.ts'
import type { Alert, Location } from '../api/types.ts'
import { type LiveEvent, live } from '../live/stream.ts'
import { newestPlace, type Place } from './newestPlace.ts'

/* Emergencies that nobody has acknowledged, and where they are. They are on top of every page. */

/** No event says that an emergency was signalled again, nor, on most pages, that a device moved. */
const FOLLOW_INTERVAL_MS = 10_000
const MAX_DEVICES = 100

const isOpenEmergency = (alert: Alert): boolean =>
  !alert.acknowledged && !alert.cancelled && alert.emergency

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

/** Acknowledged or cancelled, which is final: an older answer must not open them again. */
const closed = new Set<string>()
/** Raised since a list was asked for, which may not have them yet. */
const raised = new Map<string, Alert>()
let loads = 0

const close = (alertId: string): void => {
  closed.add(alertId)
  open.value = open.peek().filter(({ id }) => id !== alertId)
}

const put = (alert: Alert): void => {
  if (!isOpenEmergency(alert)) close(alert.id)
  if (closed.has(alert.id)) return
  if (loads > 0) raised.set(alert.id, alert)
  open.value = [...open.peek().filter(({ id }) => id !== alert.id), alert]
}

const readOpen = async (): Promise<Alert[]> => {
  const query = { emergency: true, acknowledged: false, sort: '-dateTime' }
  return (await readAll('GET /api/alerts', 'alerts', { query })).filter(isOpenEmergency)
}

const load = async (): Promise<void> => {
  loads++
  try {
    await live.opened()
    const found = new Map((await readOpen()).map((alert) => [alert.id, alert]))
    open.value = [...new Map([...raised, ...found]).values()].filter(({ id }) => !closed.has(id))
  } finally {
    if (--loads === 0) raised.clear()
  }
  await loadPositions()
}

let retryTimer: ReturnType<typeof setTimeout> | undefined

/** Asks until there is an answer: without one, an emergency would go unnoticed. */
const reload = (): void => {
  clearTimeout(retryTimer)
  void load().catch(() => {
    clearTimeout(retryTimer)
    retryTimer = setTimeout(reload, FOLLOW_INTERVAL_MS)
  })
}

const receive = async ({ type, data }: LiveEvent): Promise<void> => {
  const alertId = String(data.alertId)
  if (type === 'alert.acknowledged' || type === 'alert.cancelled') {
    close(alertId)
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

/** Reloads at an interval while an emergency is open and the page is visible. */
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
    () => clearTimeout(retryTimer),
  ]
  return () => {
    for (const one of stop) one()
  }
}

export const acknowledge = async (alertId: string): Promise<void> => {
  const { alert } = await call('POST /api/alerts/{alertId}/acknowledge', { params: { alertId } })
  put(alert)
}
