import { describe, expect, test } from 'vitest'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { call } from '../../support/http.ts'

const FIRST = Date.now() - 3_600_000
const at = (minute: number, changes: object = {}) => ({
  dateTime: new Date(FIRST + minute * 60_000).toISOString(),
  latitude: 38.7,
  longitude: -9.1,
  ...changes,
})
const makeDevice = async (account: TestAccount, members: object = {}) => {
  const { body } = await account.call('POST', '/api/devices', {
    body: { name: 'Tern', ...members },
  })
  return body.device.id as string
}
const report = (account: TestAccount, locations: object[]) =>
  account.call('POST', '/api/locations', { body: { locations } })
const lastOf = async (account: TestAccount, id: string) =>
  (await account.call('GET', `/api/devices/${id}/lastLocation`)).body.lastLocation

const NOTHING = { duplicates: 0, conflicts: 0, tooOld: 0, unknown: 0, refused: 0 }

describe('a report of many devices', () => {
  test('is stored by id and by identifier, without regard to case', async () => {
    const account = await openAccount()
    const a = await makeDevice(account, { identifier: 'IMEI-A' })
    const b = await makeDevice(account)
    const { status, body } = await report(account, [
      { identifier: 'imei-a', ...at(1) },
      { deviceId: b, ...at(2, { latitude: 1, attributes: { x: [1] } }) },
      { identifier: 'IMEI-A', ...at(3, { latitude: 2 }) },
      { deviceId: a, ...at(4, { latitude: 3, speed: 7.25 }) },
    ])
    expect(status).toBe(200)
    expect(body).toEqual({ success: true, accepted: 4, ...NOTHING, results: [] })
    expect(await lastOf(account, a)).toMatchObject({ latitude: 3, speed: 7.25 })
    expect(await lastOf(account, b)).toMatchObject({ latitude: 1, attributes: { x: [1] } })
  })

  test('says of each location what was not accepted, and a repeat changes nothing', async () => {
    const account = await openAccount()
    const a = await makeDevice(account, { identifier: 'a' })
    const gone = { limits: { expires: true, expirationDate: '2020-01-01' } }
    const expired = await makeDevice(account, { identifier: 'expired', ...gone })
    const sent = [
      { identifier: 'a', ...at(1) },
      { identifier: 'nobody', ...at(1) },
      { deviceId: a, ...at(1) },
      { deviceId: a, ...at(1, { latitude: 5 }) },
      { identifier: 'expired', ...at(1) },
      { identifier: 'a', ...at(1, { dateTime: '2001-01-01T00:00:00Z' }) },
      { deviceId: 'dev_none', ...at(1) },
      { identifier: 'a', ...at(2) },
    ]
    const { body } = await report(account, sent)
    const others = [
      { index: 1, status: 'unknown', code: 'device-not-found' },
      { index: 2, status: 'duplicate' },
      { index: 3, status: 'conflict' },
      { index: 4, status: 'refused', code: 'device-expired' },
      { index: 5, status: 'tooOld' },
      { index: 6, status: 'unknown', code: 'device-not-found' },
    ]
    expect(body).toEqual({
      success: true,
      accepted: 2,
      duplicates: 1,
      conflicts: 1,
      tooOld: 1,
      unknown: 2,
      refused: 1,
      results: others,
    })
    const repeated = await report(account, sent)
    expect(repeated.body).toMatchObject({ accepted: 0, duplicates: 3, conflicts: 1, unknown: 2 })
    const { body: device } = await account.call('GET', `/api/devices/${expired}`)
    expect(device.device.lastContact).not.toBeNull()
    const { body: track } = await account.call('GET', `/api/devices/${a}/locations`)
    expect(track.locations).toHaveLength(2)
  })

  test('one malformed location refuses the whole call with its pointer', async () => {
    const account = await openAccount()
    const a = await makeDevice(account, { identifier: 'a' })
    for (const [wrong, pointer] of [
      [{ identifier: 'a', ...at(2, { latitude: 91 }) }, '/locations/1/latitude'],
      [at(2), '/locations/1/deviceId'],
      [{ deviceId: a, identifier: 'a', ...at(2) }, '/locations/1/identifier'],
      [{ identifier: '', ...at(2) }, '/locations/1/identifier'],
      [{ identifier: 'a', other: 1, ...at(2) }, '/locations/1/other'],
      [7, '/locations/1'],
    ] as const) {
      const reply = await report(account, [{ identifier: 'a', ...at(1) }, wrong as object])
      expect([reply.status, reply.body.errors?.[0]?.pointer]).toEqual([400, pointer])
    }
    expect((await report(account, [])).status).toBe(400)
    const many = Array.from({ length: 1001 }, (_, index) => ({ deviceId: a, ...at(0), index }))
    expect((await report(account, many)).status).toBe(400)
    expect((await account.call('GET', `/api/devices/${a}/lastLocation`)).status).toBe(404)
  })

  test('null means left out, also where the fast reader does not read it', async () => {
    const account = await openAccount()
    const a = await makeDevice(account, { identifier: 'a' })
    const { body } = await report(account, [
      { identifier: ' a ', deviceId: null, ...at(1, { speed: null, sensorTime1: 5 }) },
    ])
    expect(body.accepted).toBe(1)
    expect(await lastOf(account, a)).not.toHaveProperty('speed')
  })

  test('a thousand locations of a hundred devices', async () => {
    const account = await openAccount({ licenses: 100 })
    const ids = await Promise.all(
      Array.from({ length: 100 }, (_, index) =>
        makeDevice(account, { identifier: `imei-${index}` }),
      ),
    )
    const sent = Array.from({ length: 1000 }, (_, index) => ({
      identifier: `imei-${index % 100}`,
      ...at(Math.floor(index / 100), { longitude: index / 10 }),
    }))
    expect((await report(account, sent)).body).toMatchObject({ accepted: 1000, results: [] })
    expect(await lastOf(account, ids[42] ?? '')).toMatchObject({ longitude: 94.2 })
    expect((await report(account, sent)).body).toMatchObject({ accepted: 0, duplicates: 1000 })
  })
})

describe('access', () => {
  test('wants ingest or write, and reports nothing of other accounts or groups', async () => {
    const account = await openAccount()
    const other = await openAccount()
    const theirs = await makeDevice(other, { identifier: 'theirs' })
    await makeDevice(account, { identifier: 'mine' })
    const send = async (scopes: string[]) =>
      call('POST', '/api/locations', {
        token: await fetchTokenWithScopes(account, scopes),
        body: {
          locations: [
            { deviceId: theirs, ...at(1) },
            { identifier: 'theirs', ...at(1) },
            { identifier: 'mine', ...at(1) },
          ],
        },
      })
    expect((await send(['read'])).status).toBe(403)
    const { status, body } = await send(['ingest'])
    expect([status, body.accepted, body.unknown]).toEqual([200, 1, 2])
    expect((await other.call('GET', `/api/devices/${theirs}/lastLocation`)).status).toBe(404)
  })
})

test('each device with new locations has one event, however it was named', async () => {
  const account = await openAccount()
  const a = await makeDevice(account, { identifier: 'a' })
  const b = await makeDevice(account, { identifier: 'b' })
  const { body: hook } = await account.call('POST', '/api/webhooks', {
    body: { url: 'https://receiver.example/mixed', events: ['location.reported'] },
  })
  expect(hook.success).toBe(true)
  const sent = [
    { identifier: 'a', ...at(1) },
    { deviceId: a, ...at(2) },
    { identifier: 'b', ...at(3) },
    { identifier: 'nobody', ...at(3) },
  ]
  expect((await report(account, sent)).body).toMatchObject({ accepted: 3, unknown: 1 })
  expect((await report(account, sent)).body).toMatchObject({ accepted: 0 })
  const { body } = await account.call('GET', '/api/events?types=location.reported')
  const raised = new Map(
    body.events.map(({ data }: { data: { deviceId: string; count: number } }) => [
      data.deviceId,
      data.count,
    ]),
  )
  expect(raised).toEqual(
    new Map([
      [a, 2],
      [b, 1],
    ]),
  )
  const numbers = body.events.map(({ sequence }: { sequence: number }) => sequence)
  expect(new Set(numbers).size).toBe(2)
})

test('a call that assumes a wrong state of its account stores nothing twice', async () => {
  const account = await openAccount({ timeZone: 'Pacific/Auckland' })
  await makeDevice(account, {
    identifier: 'a',
    limits: { expires: true, expirationDate: '2099-01-01' },
  })
  await makeDevice(account, { identifier: 'b' })
  const sent = [
    { identifier: 'a', ...at(1) },
    { identifier: 'b', ...at(1) },
  ]
  expect((await report(account, sent)).body).toMatchObject({ accepted: 2, results: [] })
})

test('an emergency in a report of many devices is raised once, by identifier too', async () => {
  const account = await openAccount()
  const a = await makeDevice(account, { identifier: 'a' })
  await makeDevice(account, { identifier: 'b' })
  const sent = [
    { identifier: 'a', ...at(59, { alerts: ['SOSButton'], latitude: 4 }) },
    { identifier: 'b', ...at(59) },
    { identifier: 'nobody', ...at(59, { alerts: ['SOSButton'] }) },
  ]
  expect((await report(account, sent)).body).toMatchObject({ accepted: 2, unknown: 1 })
  expect((await report(account, sent)).body).toMatchObject({ accepted: 0, duplicates: 2 })
  const { body } = await account.call('GET', '/api/alerts')
  expect(body.alerts).toMatchObject([{ deviceId: a, alerts: ['SOSButton'], latitude: 4 }])
})
