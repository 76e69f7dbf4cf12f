import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { callAsOperator } from '../../support/http.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'
import { eventually } from '../../support/time.ts'

const IMEI = '100000000000001'
const makeDevice = async (account: TestAccount, members: object = {}) => {
  const { body } = await account.call('POST', '/api/devices', {
    body: { name: 'Tern', identifier: IMEI, ...members },
  })
  return body.device.id as string
}
const trackOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/locations`)).body.locations
const quarantineOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/quarantine`)).body.quarantine
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const point = (latitude: number, longitude: number) => ({
  point: { latitude, longitude, gpsFix: 2, speed: 0, course: 0, altitude: 0 },
})

describe('a push of a known device', () => {
  test('is stored once, however often it is repeated, and answered in the provider’s way', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { id, push } = await makeSource(account, 'garmin')
    const sent = garminPush([garminEvent(IMEI, minutesAgo(5), { freeText: 'On my way.' })])
    for (let times = 0; times < 3; times++) {
      const reply = await push(sent)
      expect([reply.status, await reply.text()]).toEqual([200, ''])
    }
    expect(await trackOf(account, device)).toMatchObject([{ latitude: 43.8, source: 'gnss' }])
    const { body } = await account.call('GET', '/api/events?types=message.received')
    expect(body.events).toMatchObject([{ data: { text: 'On my way.', deviceId: device } }])
    const { source } = (await account.call('GET', `/api/sources/${id}`)).body
    expect(source.lastReceived).not.toBeNull()
  })

  test('raises and cancels alerts, each once', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'garmin')
    const sos = garminPush([garminEvent(IMEI, minutesAgo(9), { messageCode: 4 })])
    await push(sos)
    await push(sos)
    const raised = await account.call('GET', '/api/alerts')
    expect(raised.body.alerts).toMatchObject([
      {
        deviceId: device,
        alerts: ['SOSButton'],
        emergency: true,
        latitude: 43.8,
        cancelled: false,
      },
    ])
    await push(garminPush([garminEvent(IMEI, minutesAgo(2), { messageCode: 7 })]))
    const { body } = await account.call('GET', `/api/alerts/${raised.body.alerts[0].id}`)
    expect(body.alert.cancelled).toBe(true)
  })

  test('cancels an alert of a device whose clock is wrong', async () => {
    const account = await openAccount()
    await makeDevice(account)
    const { push } = await makeSource(account, 'garmin')
    // Behind by one rollover of the GPS week.
    const at = Date.now() - 1024 * 7 * 86_400_000
    await push(garminPush([garminEvent(IMEI, at, { messageCode: 4 })]))
    await push(garminPush([garminEvent(IMEI, at + 60_000, { messageCode: 7 })]))
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], cancelled: true }])
  })

  test('raises and cancels alerts though the account has used up its budget', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { body } = await account.call('POST', '/api/devices', {
      body: { name: 'Gull', identifier: 'gull' },
    })
    const gull = body.device.id as string
    const budgets = { locationsPerDay: 1 }
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    const { push } = await makeSource(account, 'garmin')
    const send = async (...events: object[]) => (await push(garminPush(events))).status
    expect(await send(garminEvent(IMEI, minutesAgo(9)), garminEvent(IMEI, minutesAgo(8)))).toBe(200)
    expect(await send(garminEvent(IMEI, minutesAgo(7)))).toBe(429)
    const sos = garminEvent('gull', minutesAgo(6), { messageCode: 4 })
    // The position of another device in the same push does not hold it back.
    expect(await send(garminEvent(IMEI, minutesAgo(6)), sos)).toBe(200)
    const alertsOf = async () => (await account.call('GET', '/api/alerts')).body.alerts
    expect(await alertsOf()).toMatchObject([{ deviceId: gull, cancelled: false }])
    expect(await trackOf(account, device)).toHaveLength(3)
    expect(await send(garminEvent('gull', minutesAgo(5), { messageCode: 7 }))).toBe(200)
    expect(await alertsOf()).toMatchObject([{ deviceId: gull, cancelled: true }])
    const { point: _, ...text } = garminEvent(IMEI, minutesAgo(4), { freeText: 'All well.' })
    expect(await send(text)).toBe(200)
    expect(await send(garminEvent(IMEI, minutesAgo(3)))).toBe(429)
  })

  test('is taken by an account without storage left only if it carries an emergency', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { id, push } = await makeSource(account, 'garmin', { keepRaw: true })
    const low = { status: { lowBattery: 1 } }
    const send = async (minutes: number, changes: object = {}) =>
      (await push(garminPush([garminEvent(IMEI, minutesAgo(minutes), changes)]))).status
    expect(await send(20, low)).toBe(200)
    const setBudgets = (budgets: object) =>
      callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { budgets } })
    await setBudgets({ storageBytes: 0 })
    expect([await send(9), await send(8, low)]).toEqual([409, 409])
    // The account's own emergencies are taken, and an SOS always.
    await account.call('PATCH', '/api/account', { body: { emergencyAlerts: ['LowBattery'] } })
    await setBudgets({ storageBytes: 1 })
    expect([await send(7, low), await send(6, { messageCode: 4 })]).toEqual([200, 200])
    expect(await trackOf(account, device)).toHaveLength(3)
    // What it stores counts, and the payload is not kept.
    await eventually(async () => {
      const { budgetUsage } = (await account.call('GET', '/api/account')).body.account
      expect(budgetUsage.locations).toBe(3)
    })
    const kept = await env.DB.prepare(
      'SELECT count(*) AS n FROM source_payloads WHERE source_id = ?',
    )
      .bind(id)
      .first('n')
    expect(kept).toBe(1)
  })

  test('raises one LowBattery a day though every event repeats it', async () => {
    const account = await openAccount()
    await makeDevice(account)
    const { push } = await makeSource(account, 'garmin')
    const start = Date.now() - (Date.now() % 86_400_000)
    const low = { status: { lowBattery: 1 } }
    await push(garminPush([garminEvent(IMEI, start + 1, low), garminEvent(IMEI, start + 2, low)]))
    await push(garminPush([garminEvent(IMEI, start + 3, low)]))
    const { body } = await account.call('GET', '/api/alerts')
    expect(body.alerts).toMatchObject([{ alerts: ['LowBattery'] }])
  })

  test('of an expired device is refused, moves lastContact, and is answered with success', async () => {
    const account = await openAccount()
    const limits = { expires: true, expirationDate: '2020-01-01' }
    const device = await makeDevice(account, { limits })
    const { push } = await makeSource(account, 'garmin')
    expect((await push(garminPush([garminEvent(IMEI, minutesAgo(5))]))).status).toBe(200)
    expect(await trackOf(account, device)).toEqual([])
    const { body } = await account.call('GET', `/api/devices/${device}`)
    expect(body.device.lastContact).not.toBeNull()
  })

  test('of an expired device cannot be stored by way of the quarantine', async () => {
    const account = await openAccount()
    const limits = { expires: true, expirationDate: '2020-01-01' }
    const device = await makeDevice(account, { limits, maxSpeed: 1 })
    const { push } = await makeSource(account, 'garmin')
    const fast = [1, 2, 3].map((at) => garminEvent(IMEI, minutesAgo(9 - at), point(at, 2)))
    const wrongClock = garminEvent(IMEI, Date.now() + 2 * 86_400_000)
    for (const events of [fast, [wrongClock]])
      expect((await push(garminPush(events))).status).toBe(200)
    expect(await quarantineOf(account, device)).toEqual([])
    expect(await trackOf(account, device)).toEqual([])
  })
})

describe('quarantine', () => {
  test('keeps 0,0, a wrong clock and too high a speed apart; their alerts are raised', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'osmand')
    const send = (minutes: number, lat: number, lon: number, more = '') =>
      push({ query: `?id=${IMEI}&timestamp=${minutesAgo(minutes)}&lat=${lat}&lon=${lon}${more}` })
    await send(60, 38.7, -9.1)
    await send(50, 0, 0, '&alarm=sos')
    await send(-3 * 24 * 60, 38.7, -9.1)
    await send(40, 48.8, 2.3)
    await send(30, 38.8, -9.2)
    expect(
      (await trackOf(account, device)).map(({ latitude }: { latitude: number }) => latitude),
    ).toEqual([38.7, 38.8])
    const quarantined = await quarantineOf(account, device)
    expect(new Set(quarantined.map(({ reason }: { reason: string }) => reason))).toEqual(
      new Set(['zero-coordinates', 'clock', 'speed']),
    )
    expect((await account.call('GET', '/api/alerts')).body.alerts).toMatchObject([
      { alerts: ['SOSButton'] },
    ])
  })

  test('takes the accuracy of both fixes off the distance', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'osmand')
    const send = (minutes: number, lat: number, accuracy: number) =>
      push({
        query: `?id=${IMEI}&timestamp=${minutesAgo(minutes)}&lat=${lat}&lon=2&accuracy=${accuracy}`,
      })
    await send(20, 10, 5)
    await send(10, 13, 200_000)
    expect(await trackOf(account, device)).toHaveLength(2)
    await send(5, 13, 5)
    expect(await quarantineOf(account, device)).toHaveLength(0)
  })

  test('checks several fixes of one push beside each other', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'garmin')
    await push(
      garminPush([
        garminEvent(IMEI, minutesAgo(30), point(38.7, -9.1)),
        garminEvent(IMEI, minutesAgo(29), point(-33, 151)),
        garminEvent(IMEI, minutesAgo(28), point(38.71, -9.1)),
      ]),
    )
    expect(await trackOf(account, device)).toHaveLength(2)
    expect(await quarantineOf(account, device)).toMatchObject([{ reason: 'speed' }])
  })

  test('three fixes that agree are released by themselves', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'osmand')
    const send = (minutes: number, lat: number) =>
      push({ query: `?id=${IMEI}&timestamp=${minutesAgo(minutes)}&lat=${lat}&lon=2` })
    await send(30, 10)
    for (const [minutes, lat] of [
      [20, 50],
      [19, 50.1],
      [18, 50.2],
    ] as const)
      await send(minutes, lat)
    expect(await quarantineOf(account, device)).toEqual([])
    expect(await trackOf(account, device)).toHaveLength(4)
    await send(10, 50.3)
    expect(await trackOf(account, device)).toHaveLength(5)
  })

  test('stays in the track when its push is repeated after the release', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'garmin')
    await push(garminPush([garminEvent(IMEI, minutesAgo(30), point(10, 2))]))
    const times = [20, 19, 18].map(minutesAgo)
    const far = garminPush(times.map((time) => garminEvent(IMEI, time, point(50, 2))))
    for (let round = 0; round < 2; round++) {
      await push(far)
      expect(await quarantineOf(account, device)).toEqual([])
      expect(await trackOf(account, device)).toHaveLength(4)
    }
  })

  test('is released by hand with its arrival, unless its time is taken; or discarded', async () => {
    const account = await openAccount()
    const device = await makeDevice(account)
    const { push } = await makeSource(account, 'osmand')
    const at = minutesAgo(10)
    await push({ query: `?id=${IMEI}&timestamp=${minutesAgo(20)}&lat=10&lon=2` })
    await push({ query: `?id=${IMEI}&timestamp=${at}&lat=60&lon=2` })
    await push({ query: `?id=${IMEI}&timestamp=${at - 1000}&lat=-60&lon=2` })
    const quarantined = await quarantineOf(account, device)
    expect(quarantined).toHaveLength(2)
    const [first, second] = quarantined.sort((a: { location: { latitude: number } }) =>
      a.location.latitude === 60 ? -1 : 1,
    )
    await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime: second.location.dateTime, latitude: 1, longitude: 1 },
    })
    const released = await account.call('POST', `/api/devices/${device}/quarantine/release`, {
      body: { ids: [first.id, second.id] },
    })
    expect(released.body).toEqual({ success: true, released: 1, conflicts: [second.id] })
    const track = await trackOf(account, device)
    expect(track.find(({ latitude }: { latitude: number }) => latitude === 60)).toMatchObject({
      receivedAt: first.receivedAt,
    })
    const discarded = await account.call('POST', `/api/devices/${device}/quarantine/discard`, {
      body: { ids: [second.id] },
    })
    expect(discarded.body.discarded).toBe(1)
    expect(await quarantineOf(account, device)).toEqual([])
  })

  test('a device with maxSpeed 0 is not checked', async () => {
    const account = await openAccount()
    const device = await makeDevice(account, { maxSpeed: 0 })
    const { push } = await makeSource(account, 'osmand')
    for (const lat of [10, -60])
      await push({
        query: `?id=${IMEI}&timestamp=${minutesAgo(lat === 10 ? 2 : 1)}&lat=${lat}&lon=2`,
      })
    expect(await trackOf(account, device)).toHaveLength(2)
  })
})
