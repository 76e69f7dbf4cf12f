import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { createDevice } from '../../support/devices.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'
import { beginTestsAtNoon } from '../../support/time.ts'

/* A tracker whose clock restarts gives two presses of its button the same `dateTime`. */

const MINUTE_MS = 60_000
const IMEI = '300434069000001'
const ROLLOVER_MS = 1024 * 7 * 86_400_000

beginTestsAtNoon()
const passMinutes = (minutes: number) => vi.setSystemTime(Date.now() + minutes * MINUTE_MS)
const alertsOf = async (account: TestAccount) =>
  (await account.call('GET', '/api/alerts')).body.alerts
/** Tokens expire sooner than repeats do. */
const countAlerts = ({ id }: TestAccount) =>
  env.DB.prepare('SELECT count(*) AS n FROM alerts WHERE account_id = ?').bind(id).first('n')
const acknowledgeAll = async (account: TestAccount) => {
  for (const { id } of await alertsOf(account))
    await account.call('POST', `/api/alerts/${id}/acknowledge`)
}
const sosAt = (time: number, battery = 0) =>
  garminPush([
    garminEvent(IMEI, time, {
      messageCode: 4,
      point: { latitude: 43.8, longitude: -70.16, altitude: battery, gpsFix: 2 },
    }),
  ])

test.each([
  ['of a clock that is wrong', () => Date.now() - ROLLOVER_MS, 2],
  ['of a clock that could be right', () => Date.now() - 20 * MINUTE_MS, 5],
])('a second SOS in the same instant %s is raised once the first is over', async (...given) => {
  const [, timeOf, repeatedAfter] = given
  const account = await openAccount()
  await createDevice(account, { identifier: IMEI })
  const { push } = await makeSource(account, 'garmin')
  const time = timeOf()
  await push(sosAt(time))
  await push(sosAt(time))
  expect(await alertsOf(account)).toHaveLength(1)
  await acknowledgeAll(account)
  // The provider got no reply, and sends it again.
  passMinutes(repeatedAfter)
  expect((await push(sosAt(time))).status).toBe(200)
  expect(await alertsOf(account)).toHaveLength(1)
  const pressedAt = Date.now()
  await push(sosAt(time, 1))
  await push(sosAt(time, 1))
  const [second, first, ...others] = await alertsOf(account)
  expect(others).toEqual([])
  expect(second).toMatchObject({ emergency: true, acknowledged: false })
  expect(Date.parse(second.dateTime)).toBe(pressedAt)
  expect(first.acknowledged).toBe(true)
  await acknowledgeAll(account)
  for (const battery of [0, 1]) await push(sosAt(time, battery))
  expect(await alertsOf(account)).toHaveLength(2)
  // Nobody knows a provider that repeats itself after so long: the button was pressed.
  passMinutes(61)
  await push(sosAt(time))
  expect(await countAlerts(account)).toBe(3)
})

test.each(['acknowledge', 'resolve', 'cancel'])(
  'the same content of a clock that stands still is a repeat until a person’s %s',
  async (step) => {
    const account = await openAccount()
    const id = await createDevice(account, { identifier: IMEI })
    const { push } = await makeSource(account, 'garmin')
    const time = Date.now() - ROLLOVER_MS
    const dateTime = new Date(time).toISOString()
    const body = { dateTime, latitude: 1, longitude: 1, alerts: ['CriticalAlert'] }
    const sendBoth = async () => {
      await push(sosAt(time))
      await account.call('POST', `/api/devices/${id}/locations`, {
        body: { ...body, hasCriticalAlert: true },
      })
    }
    await sendBoth()
    passMinutes(10)
    await sendBoth()
    const alerts = await alertsOf(account)
    expect(alerts).toHaveLength(2)
    for (const alert of alerts) await account.call('POST', `/api/alerts/${alert.id}/${step}`)
    passMinutes(10)
    for (let n = 0; n < 2; n++) await sendBoth()
    expect(await countAlerts(account)).toBe(4)
  },
)

test.each([
  ['an hour ago', 61, 2],
  ['just now', 5, 1],
])('without its press, an alert of a wrong clock that was raised %s', async (...given) => {
  const [, minutes, count] = given
  const account = await openAccount()
  await createDevice(account, { identifier: IMEI })
  const { push } = await makeSource(account, 'garmin')
  const time = Date.now() - ROLLOVER_MS
  await push(sosAt(time))
  await acknowledgeAll(account)
  // As it was before the ledger remembered presses.
  await runInDurableObject(ledgerStub(account), (_, { storage }) => {
    storage.sql.exec('DELETE FROM presses')
  })
  passMinutes(minutes)
  await push(sosAt(time))
  expect(await countAlerts(account)).toBe(count)
})

test('the alert of a wrong clock has an id by its arrival', async () => {
  const account = await openAccount()
  const [tern, gull] = [await createDevice(account, { identifier: IMEI }), 'gull']
  await createDevice(account, { identifier: gull })
  const { push } = await makeSource(account, 'garmin')
  await push(sosAt(Date.now() - ROLLOVER_MS))
  await push(garminPush([garminEvent(gull, Date.now(), { messageCode: 4 })]))
  const alerts = await alertsOf(account)
  const ids = alerts.map(({ id }: { id: string }) => id.slice(0, 13))
  expect(new Set(ids).size).toBe(1)
  expect(alerts.map(({ deviceId }: { deviceId: string }) => deviceId)).toContain(tern)
})

test('a message that has an id of its provider is the same whenever it comes', async () => {
  const account = await openAccount()
  await createDevice(account, { identifier: 'spot-1' })
  const { push } = await makeSource(account, 'spot')
  const time = Math.floor((Date.now() - ROLLOVER_MS) / 1000)
  const sos = (id: number) => ({
    contentType: 'text/xml',
    body: `<messageList><message><id>${id}</id><esn>spot-1</esn><messageType>HELP</messageType>
      <timeInGMTSecond>${time}</timeInGMTSecond></message></messageList>`,
  })
  await push(sos(1))
  await acknowledgeAll(account)
  passMinutes(200)
  await push(sos(1))
  expect(await countAlerts(account)).toBe(1)
  await push(sos(2))
  expect(await countAlerts(account)).toBe(2)
})

test('reports by OsmAnd and by the API raise the second press too, and no repeat', async () => {
  const account = await openAccount()
  const id = await createDevice(account, { identifier: 'osm' })
  const { push } = await makeSource(account, 'osmand')
  const timestamp = Math.floor(Date.now() / 1000) - 600
  const send = (batt: number) =>
    push({ query: `?id=osm&lat=1&lon=1&timestamp=${timestamp}&batt=${batt}&alarm=sos` })
  await send(50)
  // The same emergency by the API is no other one, though the first is over.
  await acknowledgeAll(account)
  const dateTime = new Date(timestamp * 1000).toISOString()
  const report = (battery: number) =>
    account.call('POST', `/api/devices/${id}/locations`, {
      body: { dateTime, latitude: 1, longitude: 1, battery, alerts: ['SOSButton'] },
    })
  for (const battery of [50, 50]) await report(battery)
  await send(50)
  expect(await alertsOf(account)).toHaveLength(1)
  await send(49)
  expect(await alertsOf(account)).toHaveLength(2)
  await acknowledgeAll(account)
  passMinutes(1)
  await report(48)
  expect(await alertsOf(account)).toHaveLength(3)
  await acknowledgeAll(account)
  passMinutes(50)
  for (const battery of [48, 50]) await report(battery)
  expect(await alertsOf(account)).toHaveLength(3)
})

test('a report by the API that is older than what is kept raises the second press', async () => {
  const account = await openAccount()
  const id = await createDevice(account)
  await account.call('PATCH', '/api/account', { body: { retentionDays: 1 } })
  const dateTime = new Date(Date.now() - 3 * 1440 * MINUTE_MS).toISOString()
  const report = () =>
    account.call('POST', `/api/devices/${id}/locations`, {
      body: { dateTime, latitude: 1, longitude: 1, alerts: ['SOSButton'] },
    })
  for (let n = 0; n < 2; n++) await report()
  expect(await countAlerts(account)).toBe(1)
  await acknowledgeAll(account)
  passMinutes(10)
  await report()
  expect(await countAlerts(account)).toBe(2)
})

test.each([
  ['of a clock that is wrong', ROLLOVER_MS, 2],
  ['older than what is kept', 3 * 1440 * MINUTE_MS, 2],
  ['that is credible', 20 * MINUTE_MS, 1],
])('an emergency that the API raises twice with a time %s', async (_, ageMs, count) => {
  const account = await openAccount()
  const id = await createDevice(account)
  await account.call('PATCH', '/api/account', { body: { retentionDays: 1 } })
  const dateTime = new Date(Date.now() - ageMs).toISOString()
  for (let n = 0; n < 2; n++) {
    expect((await raiseAlert(account, id, { alertName: 'SOSButton', dateTime })).status).toBe(201)
    await acknowledgeAll(account)
  }
  expect(await countAlerts(account)).toBe(count)
})

test('payloads that are decoded again raise nothing a second time', async () => {
  const account = await openAccount()
  await createDevice(account, { identifier: IMEI })
  const source = await makeSource(account, 'garmin', { keepRaw: true })
  const from = new Date().toISOString()
  for (const time of [Date.now(), Date.now() - ROLLOVER_MS]) await source.push(sosAt(time))
  await acknowledgeAll(account)
  passMinutes(50)
  const before = (await alertsOf(account)).length
  const body = { from, to: new Date().toISOString() }
  const { status } = await account.call('POST', `/api/sources/${source.id}/replay`, { body })
  expect(status).toBe(200)
  expect(await alertsOf(account)).toHaveLength(before)
})
