import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { garminEvent, garminPush, makeSource } from '../../support/sources.ts'

const IMEI = '300434063000001'
const DAY = 86_400_000
const minutesAgo = (minutes: number) => Date.now() - minutes * 60_000
const point = (latitude: number) => ({
  point: { latitude, longitude: 2, gpsFix: 2, speed: 0, course: 0, altitude: 0 },
})
const open = async () => {
  const account = await openAccount()
  const id = await createDevice(account, { identifier: IMEI })
  const source = await makeSource(account, 'garmin')
  const push = (...events: object[]) => source.push(garminPush(events))
  return { account, id, push }
}
const quarantineOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/quarantine?limit=1000`)).body.quarantine
const trackOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/locations`)).body.locations
const keyOf = (id: string) =>
  env.DB.prepare('SELECT key FROM devices WHERE id = ?').bind(id).first<number>('key')

describe('a clock that is off', () => {
  test.each([
    ['stands at a start of GPS weeks', Date.UTC(2019, 3, 7, 0, 5)],
    ['has lost 1024 weeks', Date.now() - 1024 * 7 * DAY],
    ['stands at 1980', Date.UTC(1980, 0, 6)],
    ['is two days ahead', Date.now() + 2 * DAY],
  ])('and %s holds back the fix, but neither the SOS nor the contact', async (_, timeStamp) => {
    const { account, id, push } = await open()
    const startedAt = Date.now()
    expect((await push(garminEvent(IMEI, timeStamp, { messageCode: 4 }))).status).toBe(200)
    expect(await trackOf(account, id)).toEqual([])
    expect(await quarantineOf(account, id)).toMatchObject([{ reason: 'clock' }])
    const { devices } = (await account.call('GET', '/api/devices')).body
    expect(devices).toMatchObject([{ id, quarantined: 1, lastLocation: null }])
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], emergency: true, late: false }])
    expect(Date.parse(alerts[0].dateTime)).toBeGreaterThanOrEqual(startedAt)
    const { device } = (await account.call('GET', `/api/devices/${id}`)).body
    expect(Date.parse(device.lastContact)).toBeGreaterThanOrEqual(startedAt)
    expect(device.lastLocation).toBeNull()
  })

  test('does not hide an alert that is older than what the account keeps', async () => {
    const { account, id, push } = await open()
    await account.call('PATCH', '/api/account', { body: { retentionDays: 30 } })
    await push(garminEvent(IMEI, Date.now() - 400 * DAY, { messageCode: 4 }))
    expect(await trackOf(account, id)).toEqual([])
    const { alerts } = (await account.call('GET', '/api/alerts')).body
    expect(alerts).toMatchObject([{ alerts: ['SOSButton'], emergency: true }])
  })

  test('gives a message the time of its arrival', async () => {
    const { account, id, push } = await open()
    const text = { messageCode: 3, freeText: 'Hello' }
    await push(garminEvent(IMEI, Date.UTC(1980, 0, 6), text))
    await push(garminEvent(IMEI, Date.UTC(1980, 0, 6), text))
    await sweep(env, Date.now())
    const { commands } = (await account.call('GET', `/api/devices/${id}/commands`)).body
    expect(commands).toHaveLength(1)
    expect(Date.parse(commands[0].creation)).toBeGreaterThan(minutesAgo(5))
  })

  test('is not one that is late', async () => {
    const { account, id, push } = await open()
    await push(garminEvent(IMEI, Date.now() - 20 * DAY))
    expect(await trackOf(account, id)).toHaveLength(1)
  })
})

describe('fixes that are too fast', () => {
  test('are all released once three of them agree', async () => {
    const { account, id, push } = await open()
    await push(garminEvent(IMEI, minutesAgo(60), point(10)))
    await push(...[50, 49, 48, 47, 46].map((at) => garminEvent(IMEI, minutesAgo(at), point(50))))
    expect(await quarantineOf(account, id)).toEqual([])
    expect(await trackOf(account, id)).toHaveLength(6)
  })

  test('stay while they do not agree', async () => {
    const { account, id, push } = await open()
    await push(garminEvent(IMEI, minutesAgo(60), point(10)))
    for (const [at, latitude] of [
      [50, 50],
      [49, -50],
      [48, 50],
      [47, -50],
    ] as const)
      await push(garminEvent(IMEI, minutesAgo(at), point(latitude)))
    expect(await quarantineOf(account, id)).toHaveLength(4)
    expect(await trackOf(account, id)).toHaveLength(1)
  })
})

test('a device has at most 1,000 in quarantine, the newest, for 30 days', async () => {
  const { account, id, push } = await open()
  const key = await keyOf(id)
  const now = Date.now()
  await env.DB.prepare(
    `WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 1004)
     INSERT INTO quarantine (id, account_id, device_key, time, reason, received_at, packed)
     SELECT 'qua_' || ?2 || i, ?1, ?2, i, 'clock', ?3 + i, '[1,1,1,null,null,null,null,null,null,null]'
     FROM n`,
  )
    .bind(account.id, key, now - 2 * DAY)
    .run()
  await push(garminEvent(IMEI, now + 2 * DAY))
  const quarantined = await quarantineOf(account, id)
  expect(quarantined).toHaveLength(1000)
  expect((await account.call('GET', `/api/devices/${id}`)).body.device.quarantined).toBe(10)
  expect(quarantined[0].location.dateTime).toBe(new Date(now + 2 * DAY).toISOString())
  // Those of two days ago are older than 30 days then.
  await sweep(env, now + 29 * DAY)
  expect(await quarantineOf(account, id)).toHaveLength(1)
})
