import { env } from 'cloudflare:workers'
import { beforeEach, describe, expect, test, vi } from 'vitest'
import { fetchTokenWithScopes, openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { call } from '../../support/http.ts'
import { daysAgo, iso } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'

const HOUR = 3_600_000
const DAY = 24 * HOUR

const place = (at: number, more: object = {}) => ({
  dateTime: iso(at),
  latitude: 38.7223,
  longitude: -9.1393,
  ...more,
})

let account: TestAccount
let device: string
let path: string
let now: number
const report = (body: unknown, headers: Record<string, string> = {}) =>
  account.call('POST', path, { body, headers })
const last = async () =>
  (await account.call('GET', `/api/devices/${device}/lastLocation`)).body.lastLocation
const readDevice = async () => (await account.call('GET', `/api/devices/${device}`)).body.device
const track = async () => (await account.call('GET', path)).body.locations

beforeEach(async () => {
  account = await openAccount()
  device = await createDevice(account)
  path = `/api/devices/${device}/locations`
  now = Date.now()
})

const FULL = {
  latitude: -33.8567844,
  longitude: 151.2152967,
  altitude: 12.34,
  speed: 31.5,
  course: 359.99,
  accuracy: 4.2,
  battery: 87.5,
  fuel: 12.75,
  fuel2: 0,
  temperature: -40.125,
  temperature2: 21,
  sensorTime1: 120,
  sensorTime2: '2026-01-02T03:04:05.000Z',
  sensorTime3: 0.5,
  sensorTime4: 1e12,
  inactiveSeconds: 3600,
  rpm: 2200,
  milleage: 123456.789,
  warningTexts: ['ölstand', ''],
  alertTexts: ['SOS "now"'],
  alerts: ['SOSButton', 7],
  warnings: ['LowBattery'],
  hasCriticalAlert: true,
  attributes: { a: { b: [1, null, 'x', { c: true }] }, '': 0 },
  accessoriesAttributes: [{ id: 1 }, 'x'],
  inputs: [true, 0, 'on'],
  outputs: [],
  source: 'network',
}

describe('a report', () => {
  test('is stored and returned with the same values in every field', async () => {
    const reply = await report({ location: { dateTime: iso(now), ...FULL } })
    expect(reply.status).toBe(201)
    expect(reply.body).toMatchObject({ success: true, accepted: 1, duplicates: 0 })
    const [stored] = reply.body.locations
    const { receivedAt, ...rest } = stored
    expect(rest).toEqual({ dateTime: iso(now), ...FULL })
    expect(Date.parse(receivedAt)).toBeGreaterThanOrEqual(now)
    expect(await last()).toEqual(stored)
    expect(await track()).toEqual([stored])
  })

  test('keeps numbers exactly that are more precise than their columns', async () => {
    const fine = {
      latitude: 1 / 3,
      longitude: -1e-9,
      altitude: 0.1 + 0.2,
      speed: Math.PI,
      course: 1e-7,
      accuracy: 5e-324,
      battery: 99.99999,
    }
    await report(place(now, fine))
    expect(await last()).toMatchObject(fine)
  })

  test('stores −0 as 0 and converts any offset to UTC', async () => {
    await report(
      `{"dateTime":"${iso(daysAgo(9) + 7_200_500).replace('00Z', '+02:00')}","latitude":-0,"longitude":-0.0,"fuel":-0}`,
    )
    const stored = await last()
    expect(stored).toMatchObject({
      dateTime: iso(daysAgo(9) + 500),
      latitude: 0,
      longitude: 0,
      fuel: 0,
    })
    expect(Object.is(stored.latitude, -0)).toBe(false)
  })

  test('is accepted in all four forms, also with from and to, and as GET returns it', async () => {
    const forms = [
      { location: place(now - 1000), from: iso(now), to: iso(now) },
      { locations: [place(now - 2000), place(now - 3000)] },
      place(now - 4000),
      [place(now - 5000), place(now - 6000)],
    ]
    const replies = await Promise.all(forms.map((form) => report(form)))
    expect(
      replies.map(({ status, body }) => [status, body.accepted, body.locations?.length]),
    ).toEqual([
      [201, 1, 1],
      [201, 2, undefined],
      [201, 1, 1],
      [201, 2, undefined],
    ])
    const read = await account.call('GET', path)
    expect(read.body.locations).toHaveLength(6)
    expect((await report(read.body)).body).toMatchObject({ accepted: 0, duplicates: 6 })
    expect((await report(read.body.locations)).body).toMatchObject({ accepted: 0, duplicates: 6 })
    expect(replies[1]?.headers.get('Location')).toBe(
      `${path}?from=${iso(now - 3000)}&to=${iso(now - 2000)}`,
    )
  })

  test('with one invalid location is refused with its pointer, and nothing is stored', async () => {
    const good = Array.from({ length: 20 }, (_, index) => place(now - index * 1000))
    const bad = good.map((location, index) =>
      index === 17 ? { ...location, latitude: 90.01 } : location,
    )
    const wrapped = await report({ locations: bad })
    expect(wrapped.status).toBe(400)
    expect(wrapped.body.errors).toEqual([
      { pointer: '/locations/17/latitude', detail: 'must be at most 90' },
    ])
    expect((await report(bad)).body.errors[0].pointer).toBe('/17/latitude')
    expect((await report({ location: bad[17] })).body.errors[0].pointer).toBe('/location/latitude')
    expect((await report(bad[17])).body.errors[0].pointer).toBe('/latitude')
    expect(await track()).toEqual([])
    expect((await readDevice()).lastContact).toBeNull()
  })

  test.each([
    ['a latitude that is text', { latitude: '38' }, '/latitude'],
    ['a latitude that is null', { latitude: null }, '/latitude'],
    ['a longitude beyond 180', { longitude: 180.0000001 }, '/longitude'],
    ['a course beyond 360', { course: 360.5 }, '/course'],
    ['a negative speed', { speed: -1 }, '/speed'],
    ['a battery of 101 percent', { battery: 101 }, '/battery'],
    ['a negative accuracy', { accuracy: -1 }, '/accuracy'],
    ['a member nobody knows', { lattitude: 1 }, '/lattitude'],
    ['a list that is none', { inputs: {} }, '/inputs'],
    ['a text list of numbers', { alertTexts: ['a', 1] }, '/alertTexts/1'],
    ['attributes that are a list', { attributes: [] }, '/attributes'],
    [
      'attributes deeper than 8',
      { attributes: { a: { a: { a: { a: { a: { a: { a: { a: {} } } } } } } } } },
      '/attributes',
    ],
    ['attributes larger than 8 KiB', { attributes: { a: 'x'.repeat(8192) } }, '/attributes'],
    ['an empty source', { source: '' }, '/source'],
    ['a sensor time that is neither', { sensorTime1: 'noon' }, '/sensorTime1'],
    ['a time before 2000', { dateTime: '1999-12-31T23:59:59.999Z' }, '/dateTime'],
    ['a time more than 10 minutes ahead', { dateTime: iso(Date.now() + 660_000) }, '/dateTime'],
    ['a time without an offset', { dateTime: '2026-01-01T00:00:00' }, '/dateTime'],
    ['a day that does not exist', { dateTime: '2026-02-30T00:00:00Z' }, '/dateTime'],
  ])('with %s is 400 with a pointer to it', async (_, bad, pointer) => {
    const reply = await report(place(now, bad))
    expect(reply.status).toBe(400)
    expect(reply.body.errors.map((error: { pointer: string }) => error.pointer)).toContain(pointer)
    expect(await track()).toEqual([])
  })

  test('with 1e999, an empty list, 1001 locations or no body is 400', async () => {
    const bodies = [
      `{"dateTime":"${iso(now)}","latitude":1e999,"longitude":0}`,
      `{"dateTime":"${iso(now)}","latitude":1,"longitude":0,"attributes":{"x":[1e999]}}`,
      `{"dateTime":"${iso(now)}","latitude":1,"longitude":0,"inputs":[1e999]}`,
      [],
      { locations: [] },
      Array.from({ length: 1001 }, (_, index) => place(now - index)),
      {},
      'null',
      '7',
      { location: place(now), locations: [place(now)] },
    ]
    for (const body of bodies) expect((await report(body)).status).toBe(400)
    expect(await track()).toEqual([])
  })

  test('larger than one database value is 413, and nothing is stored', async () => {
    const inputs = Array.from({ length: 370 }, () => 1e20)
    const body = JSON.stringify(
      Array.from({ length: 540 }, (_, n) => place(now - n, { inputs })),
    ).replaceAll('100000000000000000000', '1e20')
    expect(body.length).toBeLessThan(1_048_576)
    const reply = await report(body)
    expect([reply.status, reply.body.code]).toEqual([413, 'body-too-large'])
    expect(await track()).toEqual([])
  })

  test('is accepted up to nine minutes in the future', async () => {
    expect((await report(place(Date.now() + 540_000))).status).toBe(201)
  })

  test('repeated is counted as a duplicate, changes nothing, and returns the stored location', async () => {
    await report(place(now, { speed: 1 }))
    const stored = await last()
    const repeat = await report(place(now, { speed: 1 }))
    expect(repeat.status).toBe(201)
    expect(repeat.body).toMatchObject({ accepted: 0, duplicates: 1, locations: [stored] })
    const twice = await report([
      place(now - 1000, { speed: 3 }),
      place(now - 1000, { speed: 3 }),
      place(now, { speed: 1 }),
    ])
    expect(twice.body).toMatchObject({ accepted: 1, duplicates: 2, conflicts: 0 })
    expect((await track()).map(({ speed }: { speed: number }) => speed)).toEqual([3, 1])
  })

  test('late, repeated or parallel leaves the greatest dateTime as the last location', async () => {
    const times = Array.from({ length: 60 }, (_, index) => now - ((index * 37) % 60) * 1000)
    const sent = [...times, ...times.slice(0, 20)]
    const replies = await Promise.all(sent.map((at) => report(place(at))))
    expect(replies.reduce((sum, { body }) => sum + body.accepted, 0)).toBe(60)
    expect((await last()).dateTime).toBe(iso(now))
    expect((await readDevice()).lastLocation.dateTime).toBe(iso(now))
    expect((await track()).map(({ dateTime }: { dateTime: string }) => dateTime)).toEqual(
      times.sort((a, b) => a - b).map(iso),
    )
  })

  test('writes one row for each location in one round trip, and no other row', async () => {
    // With the first report an isolate writes what it has counted, then after 1000 locations.
    await report(place(now - 3000))
    const batch = vi.spyOn(env.DB, 'batch')
    try {
      for (const count of [1, 900]) {
        batch.mockClear()
        await report(Array.from({ length: count }, (_, index) => place(now + count - 2000 + index)))
        expect(batch).toHaveBeenCalledTimes(1)
        expect(batch.mock.calls[0]?.[0]).toHaveLength(3)
        const results = await (batch.mock.results[0]?.value as Promise<D1Result[]>)
        const written = results.map(({ meta }) => meta.rows_written)
        expect([written[1], written.reduce((sum, rows) => sum + rows)]).toEqual([count, count])
      }
    } finally {
      batch.mockRestore()
    }
  })

  test('with an Idempotency-Key is replayed; a query is not', async () => {
    const first = await report(place(now), { 'Idempotency-Key': 'one' })
    const again = await report(place(now), { 'Idempotency-Key': 'one' })
    expect(again.headers.get('Idempotent-Replayed')).toBe('true')
    expect(again.text).toBe(first.text)
    const query = { from: iso(now - 1000), to: iso(now) }
    expect((await report(query, { 'Idempotency-Key': 'two' })).body.locations).toHaveLength(1)
    await report(place(now - 500))
    expect((await report(query, { 'Idempotency-Key': 'two' })).body.locations).toHaveLength(2)
  })
})

describe('access', () => {
  test('ingest can only report, read can only query, write can do both', async () => {
    const [ingest, read, write] = await Promise.all(
      ['ingest', 'read', 'write'].map((scope) => fetchTokenWithScopes(account, [scope])),
    )
    const query = { from: iso(now - 1000), to: iso(now) }
    const statuses = async (token = '') => [
      (await call('POST', path, { token, body: place(now) })).status,
      (await call('POST', path, { token, body: query })).status,
      (await call('GET', path, { token })).status,
      (await call('GET', `/api/devices/${device}/lastLocation`, { token })).status,
    ]
    expect(await statuses(ingest)).toEqual([201, 403, 403, 403])
    expect(await statuses(read)).toEqual([403, 200, 200, 200])
    expect(await statuses(write)).toEqual([201, 200, 200, 200])
  })

  test('a device of another account is 404 like one that does not exist', async () => {
    const foreign = await openAccount()
    await report(place(now))
    const bytes = (text: string) => text.replace(/"instance":"[^"]*","requestId":"[^"]*"/, '')
    for (const [method, rest, body] of [
      ['POST', 'locations', place(now)],
      ['POST', 'locations', { from: iso(now), to: iso(now) }],
      ['GET', 'locations', undefined],
      ['GET', 'locations?format=gpx', undefined],
      ['GET', 'lastLocation', undefined],
    ] as const) {
      const options = body === undefined ? {} : { body }
      const theirs = await foreign.call(method, `/api/devices/${device}/${rest}`, options)
      const none = await foreign.call(
        method,
        `/api/devices/dev_00000000000000000000000/${rest}`,
        options,
      )
      expect(theirs.status).toBe(404)
      expect(bytes(theirs.text)).toBe(bytes(none.text))
    }
    expect(await track()).toHaveLength(1)
  })
})

describe('an expired device', () => {
  test('gets 409 for a report, stores nothing and updates lastContact; its track can be read', async () => {
    await report(place(now - HOUR))
    const before = (await readDevice()).lastContact
    await scheduler.wait(5)
    await account.call('PATCH', `/api/devices/${device}`, {
      body: { limits: { expires: true, expirationDate: '2020-01-01' } },
    })
    const refused = await report(place(now))
    expect(refused.status).toBe(409)
    expect(refused.body.code).toBe('device-expired')
    expect(await track()).toHaveLength(1)
    const after = await readDevice()
    expect(after.lastLocation.dateTime).toBe(iso(now - HOUR))
    expect(Date.parse(after.lastContact)).toBeGreaterThan(Date.parse(before))
  })

  test.each(['Pacific/Kiritimati', 'Pacific/Pago_Pago'])(
    'expires when its day begins in %s, also for the first report',
    async (timeZone) => {
      account = await openAccount({ timeZone })
      const { creation } = (await account.call('GET', '/api/account')).body.account
      const today = new Intl.DateTimeFormat('en-CA', { timeZone }).format(new Date(creation))
      const tomorrow = new Intl.DateTimeFormat('en-CA', { timeZone }).format(
        Date.parse(creation) + DAY,
      )
      const limits = (expirationDate: string) => ({ limits: { expires: true, expirationDate } })
      const [ended, running] = [
        await createDevice(account, limits(today)),
        await createDevice(account, limits(tomorrow)),
      ]
      expect(
        (await account.call('POST', `/api/devices/${running}/locations`, { body: place(now) }))
          .status,
      ).toBe(201)
      expect(
        (await account.call('POST', `/api/devices/${ended}/locations`, { body: place(now) }))
          .status,
      ).toBe(409)
    },
  )

  test('a report notices that the time zone of its account has changed', async () => {
    account = await openAccount({ timeZone: 'Pacific/Kiritimati' })
    const localDay = (timeZone: string) =>
      new Intl.DateTimeFormat('en-CA', { timeZone }).format(Date.now())
    const id = await createDevice(account, {
      limits: { expires: true, expirationDate: localDay('Pacific/Kiritimati') },
    })
    const path = `/api/devices/${id}/locations`
    expect((await account.call('POST', path, { body: place(now) })).status).toBe(409)
    expect(
      (await account.call('PATCH', '/api/account', { body: { timeZone: 'Pacific/Pago_Pago' } }))
        .status,
    ).toBe(200)
    expect((await account.call('POST', path, { body: place(now) })).status).toBe(201)
    expect(
      (await account.call('PATCH', '/api/account', { body: { timeZone: 'Pacific/Kiritimati' } }))
        .status,
    ).toBe(200)
    expect((await account.call('POST', path, { body: place(now - 1) })).status).toBe(409)
  })
})

describe('lastContact', () => {
  test('is the arrival of the last location, and is updated by late and repeated ones', async () => {
    await report(place(now))
    const first = await readDevice()
    expect(first.lastContact).toBe(first.lastLocation.receivedAt)
    await scheduler.wait(5)
    await report(place(now - HOUR))
    const late = await readDevice()
    expect(late.lastLocation).toEqual(first.lastLocation)
    expect(Date.parse(late.lastContact)).toBeGreaterThan(Date.parse(first.lastContact))
    await scheduler.wait(5)
    await report(place(now))
    const repeated = await readDevice()
    expect(Date.parse(repeated.lastContact)).toBeGreaterThan(Date.parse(late.lastContact))
  })

  test('is in the device list with every last location, without a query for each device', async () => {
    const others = await Promise.all(Array.from({ length: 5 }, () => createDevice(account)))
    await Promise.all(
      others.map((id, index) =>
        account.call('POST', `/api/devices/${id}/locations`, {
          body: place(now - index * 1000, FULL),
        }),
      ),
    )
    const prepare = vi.spyOn(env.DB, 'prepare')
    const { devices } = (await account.call('GET', '/api/devices')).body
    const queries = prepare.mock.calls.length
    prepare.mockRestore()
    expect(queries).toBeLessThanOrEqual(2)
    const byId = new Map(devices.map((one: { id: string }) => [one.id, one]))
    for (const [index, id] of others.entries()) {
      const read = (await account.call('GET', `/api/devices/${id}`)).body.device
      expect(byId.get(id)).toEqual(read)
      expect(read.lastLocation).toMatchObject({ ...FULL, dateTime: iso(now - index * 1000) })
      expect(read.lastContact).toBe(read.lastLocation.receivedAt)
    }
    expect(byId.get(device)).toMatchObject({ lastLocation: null, lastContact: null })
  })
})

describe('lastLocation', () => {
  test('is 404 no-location before the first report', async () => {
    const reply = await account.call('GET', `/api/devices/${device}/lastLocation`)
    expect(reply.status).toBe(404)
    expect(reply.body.code).toBe('no-location')
  })

  test('has an ETag for polling with If-None-Match', async () => {
    await report(place(now))
    const read = () =>
      account.call('GET', `/api/devices/${device}/lastLocation`, {
        headers: { 'If-None-Match': etag },
      })
    const etag =
      (await account.call('GET', `/api/devices/${device}/lastLocation`)).headers.get('ETag') ?? ''
    expect(etag).toMatch(/^"\d+\..+"$/)
    expect((await read()).status).toBe(304)
    await report(place(now + 1))
    expect((await read()).status).toBe(200)
  })
})

test('a user confined to a group can report for and read only its devices', async () => {
  const outside = await createDevice(account)
  const group = await account.call('POST', '/api/groups', {
    body: { name: 'North', devices: [device] },
  })
  const user = await createBoundUser(
    account,
    { group: group.body.id, privileges: ['read', 'write'] },
    { scopes: ['write'] },
  )
  const urgent = { ...place(now), hasCriticalAlert: true }
  const statuses = async (id: string) => [
    (await call('POST', `/api/devices/${id}/locations`, { token: user.token, body: urgent }))
      .status,
    (
      await call('POST', `/api/devices/${id}/locations`, {
        token: user.token,
        body: { from: iso(now), to: iso(now) },
      })
    ).status,
    (await call('GET', `/api/devices/${id}/locations?format=csv`, { token: user.token })).status,
    (await call('GET', `/api/devices/${id}/lastLocation`, { token: user.token })).status,
  ]
  expect(await statuses(outside)).toEqual([404, 404, 404, 404])
  expect((await account.call('GET', `/api/devices/${outside}`)).body.device).toMatchObject({
    lastLocation: null,
    lastContact: null,
  })
  const mixed = { locations: [{ ...urgent, deviceId: outside }] }
  const reply = await call('POST', '/api/locations', { token: user.token, body: mixed })
  expect(reply.body).toMatchObject({ accepted: 0, unknown: 1 })
  expect((await account.call('GET', '/api/alerts')).body.alerts).toEqual([])
  expect(await statuses(device)).toEqual([201, 200, 200, 200])
  expect((await account.call('GET', '/api/alerts')).body.alerts).toHaveLength(1)
})
