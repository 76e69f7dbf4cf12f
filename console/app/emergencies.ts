import { computed, effect, signal } from '@preact/signals'
import type { ComponentType } from 'preact'
import { call } from '../api/client.ts'
import { readAll } from '../api/list.ts'
import { rememberNames } from '../api/names.ts'
import type { Alert, Location } from '../api/types.ts'
import { type LiveEvent, live } from '../live/stream.ts'
import { session } from '../session/session.ts'
import { ENDED_SHOWN_MS, type Ending, nextSlots, type Slot } from './emergencySlots.ts'
import { newestPlace, type Place } from './newestPlace.ts'

/* Emergencies that nobody has acknowledged, and where they are. They are on top of every page. */

/** No event says that an emergency was signalled again, nor, on most pages, that a device moved. */
const FOLLOW_INTERVAL_MS = 10_000
const MAX_DEVICES = 100
const MAX_ANSWER_MS = 30_000

const isOpenEmergency = ({ state, emergency }: Alert): boolean => state === 'open' && emergency

const open = signal<readonly Alert[]>([])
/** The last position of each device that has an emergency. */
const positions = signal<ReadonlyMap<string, Place>>(new Map())

export const emergencies = computed(() => open.value)

/** How emergencies ended that were open here, and whether the viewer can undo it. */
const endings = new Map<string, { as: Ending; isMine: boolean }>()

/** What is below the emergencies in the bar; loaded with the alarm. */
export const alarmTools = signal<ComponentType | null>(null)

/** What the bar shows, from top to bottom. */
export const slots = signal<readonly Slot[]>([])

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

/** When emergencies were closed: an older answer, which may still come, must not open them. */
const closed = new Map<string, number>()
const isClosed = (alertId: string): boolean =>
  Date.now() - (closed.get(alertId) ?? 0) < MAX_ANSWER_MS
/** Raised since a list was asked for, which may not have them yet. */
const raised = new Map<string, Alert>()
let loads = 0

/** Its event says only that it ended; the reply, which comes before or after, whose step it was. */
const close = (alertId: string, as: Ending, isMine = endings.get(alertId)?.isMine ?? false) => {
  closed.set(alertId, Date.now())
  endings.set(alertId, { as, isMine })
  open.value = open.peek().filter(({ id }) => id !== alertId)
}

const put = (alert: Alert, isMine?: boolean): void => {
  if (alert.state !== 'open') close(alert.id, alert.state, isMine)
  if (isClosed(alert.id) || !isOpenEmergency(alert)) return
  endings.delete(alert.id)
  if (loads > 0) raised.set(alert.id, alert)
  open.value = [...open.peek().filter(({ id }) => id !== alert.id), alert]
}

const readOpen = async (): Promise<Alert[]> => {
  const query = { emergency: true, state: 'open', sort: '-dateTime' }
  return (await readAll('GET /api/alerts', 'alerts', { query })).filter(isOpenEmergency)
}

const load = async (): Promise<void> => {
  loads++
  try {
    await live.opened()
    const found = new Map((await readOpen()).map((alert) => [alert.id, alert]))
    open.value = [...new Map([...raised, ...found]).values()].filter(({ id }) => !isClosed(id))
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

const ENDINGS = new Map<string, Ending>([
  ['alert.acknowledged', 'acknowledged'],
  ['alert.resolved', 'resolved'],
  ['alert.cancelled', 'cancelled'],
])

const receive = async ({ type, data }: LiveEvent): Promise<void> => {
  const alertId = String(data.alertId)
  const ending = ENDINGS.get(type)
  if (ending) {
    close(alertId, ending)
    return
  }
  if (type === 'alert.reopened') closed.delete(alertId)
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

/** Puts emergencies into their places, and takes away those that ended a while ago. */
const arrange = (): (() => void) => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const arrangeNow = (): void => {
    clearTimeout(timer)
    const at = Date.now()
    slots.value = nextSlots(slots.peek(), { open: open.value, endings, at })
    const ends = slots.peek().flatMap(({ ended }) => (ended ? [ended.at + ENDED_SHOWN_MS] : []))
    if (ends.length > 0) timer = setTimeout(arrangeNow, Math.min(...ends) - at)
  }
  const stop = effect(arrangeNow)
  return () => {
    stop()
    clearTimeout(timer)
  }
}

export const startEmergencies = (): (() => void) => {
  reload()
  const stop = [
    live.on(
      ['alert.raised', 'alert.reopened', ...ENDINGS.keys()],
      (event) => void receive(event).catch(reload),
    ),
    live.on(['location.reported'], receiveLocation, { isPassive: true }),
    live.onGap(() => {
      closed.clear()
      reload()
    }),
    follow(),
    arrange(),
    () => clearTimeout(retryTimer),
  ]
  return () => {
    for (const one of stop) one()
  }
}

export const acknowledge = async (alertId: string): Promise<void> => {
  const params = { alertId }
  const { alert } = await call('POST /api/alerts/{alertId}/acknowledge', { params })
  const { acknowledgedBy, test } = alert
  // A colleague may have been first; then it is theirs. A drill cannot be reopened.
  put(alert, !test && acknowledgedBy !== null && acknowledgedBy === session.me.value?.id)
}

/** Undoes an acknowledgement. */
export const reopen = async (alertId: string): Promise<void> => {
  const params = { alertId }
  const { alert } = await call('POST /api/alerts/{alertId}/reopen', { params, body: {} })
  closed.delete(alertId)
  put(alert)
}
