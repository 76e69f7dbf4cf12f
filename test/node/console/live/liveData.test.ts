import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { load, replaceModule, restoreModules } from '../support/load.ts'

/* What pages keep current by events while they read lists, in an unlucky order. */

type Handler = (event: { type: string; data: object }) => void
interface Call {
  operation: string
  query: Record<string, unknown>
  resolve: (reply: object) => void
  reject: (error: Error) => void
}

let calls: Call[]
let handlers: { types: readonly string[]; handler: Handler }[]

const emit = (type: string, data: object) => {
  for (const { types, handler } of handlers)
    if (types.includes(type) || types.includes(`${type.split('.')[0]}.*`)) handler({ type, data })
}

/** Answers the oldest open call of this operation. */
const answer = async (operation: string, reply: object | Error) => {
  const at = calls.findIndex((one) => one.operation === operation)
  const [call] = calls.splice(at, at < 0 ? 0 : 1)
  if (!call) throw new Error(`no call of ${operation}`)
  if (reply instanceof Error) call.reject(reply)
  else call.resolve(reply)
  await vi.advanceTimersByTimeAsync(0)
}

beforeEach(() => {
  vi.useFakeTimers()
  vi.stubGlobal('document', { visibilityState: 'visible' })
  calls = []
  handlers = []
  replaceModule('api/client.ts', {
    call: (operation: string, { query = {} }: { query?: Record<string, unknown> } = {}) =>
      new Promise((resolve, reject) => calls.push({ operation, query, resolve, reject })),
  })
  replaceModule('session/session.ts', { session: { me: { value: { id: 'usr_me' } } } })
  replaceModule('live/stream.ts', {
    live: {
      on: (types: readonly string[], handler: Handler) => {
        handlers.push({ types, handler })
        return () => undefined
      },
      onGap: () => () => undefined,
      opened: async () => undefined,
    },
  })
})
afterEach(() => {
  restoreModules('api/client.ts', 'live/stream.ts', 'session/session.ts')
  vi.useRealTimers()
  vi.unstubAllGlobals()
})

describe('emergencies', () => {
  const LIST = 'GET /api/alerts'
  const ONE = 'GET /api/alerts/{alertId}'
  const alertOf = (id: string, changes = {}) => ({
    id,
    deviceId: 'dev_1',
    dateTime: '2026-11-14T09:30:00.000Z',
    state: 'open',
    emergency: true,
    updates: [],
    ...changes,
  })
  const page = (...alerts: object[]) => ({ alerts, nextCursor: null })

  const start = async () => {
    const { emergencies, slots, acknowledge, startEmergencies } = await load<{
      emergencies: { value: readonly { id: string }[] }
      slots: { value: readonly { ended: { as: string; isMine: boolean } | null }[] }
      acknowledge: (alertId: string) => Promise<void>
      startEmergencies: () => () => void
    }>('app/emergencies.ts')
    const stop = startEmergencies()
    await vi.advanceTimersByTimeAsync(0)
    return { ids: () => emergencies.value.map(({ id }) => id), slots, acknowledge, stop }
  }

  test('are not forgotten when they are raised while the list is read', async () => {
    const { ids, stop } = await start()
    emit('alert.raised', { alertId: 'alr_1' })
    await answer(ONE, { alert: alertOf('alr_1') })
    expect(ids()).toEqual(['alr_1'])
    await answer(LIST, page())
    expect(ids()).toEqual(['alr_1'])
    stop()
  })

  test('do not come back after they were acknowledged', async () => {
    const { ids, stop } = await start()
    emit('alert.raised', { alertId: 'alr_1' })
    emit('alert.acknowledged', { alertId: 'alr_1' })
    await answer(ONE, { alert: alertOf('alr_1') })
    expect(ids()).toEqual([])
    await answer(LIST, page(alertOf('alr_1'), alertOf('alr_2')))
    expect(ids()).toEqual(['alr_2'])
    stop()
  })

  test('come back when they were reopened, in spite of older answers', async () => {
    const { ids, stop } = await start()
    await answer(LIST, page(alertOf('alr_1')))
    emit('alert.acknowledged', { alertId: 'alr_1' })
    expect(ids()).toEqual([])
    emit('alert.reopened', { alertId: 'alr_1' })
    await answer(ONE, { alert: alertOf('alr_1') })
    expect(ids()).toEqual(['alr_1'])
    stop()
  })

  test.each([
    ['after', 'usr_me', true],
    ['before', 'usr_me', true],
    ['after', 'usr_colleague', false],
    ['before', 'usr_colleague', false],
  ])('can be undone by who acknowledged: reply %s the event, of %s', async (order, by, isMine) => {
    const { slots, acknowledge, stop } = await start()
    await answer(LIST, page(alertOf('alr_1')))
    const acknowledged = acknowledge('alr_1')
    const event = () => emit('alert.acknowledged', { alertId: 'alr_1' })
    if (order === 'after') event()
    const alert = alertOf('alr_1', { state: 'acknowledged', acknowledgedBy: by })
    await answer('POST /api/alerts/{alertId}/acknowledge', { alert })
    await acknowledged
    if (order === 'before') event()
    expect(slots.value.map(({ ended }) => ended)).toMatchObject([{ as: 'acknowledged', isMine }])
    stop()
  })

  test('are asked for again when the list could not be read', async () => {
    const { ids, stop } = await start()
    await answer(LIST, new Error('No.'))
    await vi.advanceTimersByTimeAsync(10_000)
    await answer(LIST, page(alertOf('alr_1')))
    expect(ids()).toEqual(['alr_1'])
    stop()
  })
})

describe('the fleet', () => {
  const LIST = 'GET /api/devices'
  const locationAt = (minute: number) => ({
    dateTime: `2026-11-14T09:${minute}:00.000Z`,
    receivedAt: `2026-11-14T09:${minute}:01.000Z`,
  })
  const deviceOf = (id: string, minute: number) => ({
    id,
    name: id,
    state: 'active',
    lastLocation: locationAt(minute),
  })

  const start = async () => {
    const { fleet, startFleet, reloadFleet } = await load<{
      fleet: { value: readonly { device: { id: string; lastLocation: { dateTime: string } } }[] }
      startFleet: () => () => void
      reloadFleet: () => void
    }>('pages/map/fleet/fleet.ts')
    const stop = startFleet()
    await vi.advanceTimersByTimeAsync(0)
    const shown = () =>
      fleet.value.map(({ device }) => `${device.id} ${device.lastLocation.dateTime.slice(14, 16)}`)
    return { shown, stop, reloadFleet }
  }

  test('keeps what events have changed while its pages are read', async () => {
    const { shown, stop } = await start()
    const first = [deviceOf('dev_1', 10), deviceOf('dev_2', 10)]
    await answer(LIST, { devices: first, nextCursor: 'c' })
    emit('location.reported', { deviceId: 'dev_1', location: locationAt(11) })
    emit('device.deleted', { deviceId: 'dev_2' })
    await vi.advanceTimersByTimeAsync(250)
    expect(shown()).toEqual(['dev_1 11'])
    await answer(LIST, { devices: [deviceOf('dev_3', 10)], nextCursor: null })
    await vi.advanceTimersByTimeAsync(250)
    expect(shown()).toEqual(['dev_1 11', 'dev_3 10'])
    stop()
  })

  test('shows the newest of several lists', async () => {
    const { shown, stop, reloadFleet } = await start()
    reloadFleet()
    await vi.advanceTimersByTimeAsync(0)
    const [older, newer] = calls.splice(0)
    newer?.resolve({ devices: [deviceOf('dev_2', 10)], nextCursor: null })
    await vi.advanceTimersByTimeAsync(0)
    older?.resolve({ devices: [deviceOf('dev_1', 10)], nextCursor: null })
    await vi.advanceTimersByTimeAsync(0)
    expect(shown()).toEqual(['dev_2 10'])
    stop()
  })
})
