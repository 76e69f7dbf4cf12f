import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount } from '../support/accounts.ts'
import { createDevice } from '../support/devices.ts'

const MINUTE = 60_000
const START = Date.UTC(2026, 10, 13, 8)
const METRES_PER_DEGREE = 111_319.49

const fix = (minute: number, east: number, more: object = {}) => ({
  dateTime: new Date(START + minute * MINUTE).toISOString(),
  latitude: 0,
  longitude: east / METRES_PER_DEGREE,
  ...more,
})
const at = (minute: number) => new Date(START + minute * MINUTE).toISOString()

const SPAN = `?from=${at(0)}&to=${at(1000)}`

test('trips, stops and days are computed from the stored track', async () => {
  const account = await openAccount({ timeZone: 'Pacific/Auckland' })
  const device = await createDevice(account)
  const path = `/api/devices/${device}`
  await account.call('POST', `${path}/locations`, {
    body: [
      fix(70, 20_000),
      fix(0, 0),
      fix(20, 5),
      fix(25, 3000, { speed: 60.25 }),
      fix(30, 8000, { speed: 72.5 }),
      fix(32, 500_000, { accuracy: 20_000 }),
      fix(35, 12_000),
      fix(60, 12_030),
    ],
  })
  const { trips } = (await account.call('GET', `${path}/trips${SPAN}`)).body
  expect(trips).toHaveLength(2)
  expect(trips[0]).toEqual({
    start: { dateTime: at(20), latitude: 0, longitude: expect.closeTo(5 / METRES_PER_DEGREE, 7) },
    end: {
      dateTime: at(35),
      latitude: 0,
      longitude: expect.closeTo(12_000 / METRES_PER_DEGREE, 7),
    },
    distance: expect.closeTo(11_995, 0),
    duration: 900,
    topSpeed: 72.5,
    meanSpeed: expect.closeTo(48, 0),
    locations: 4,
  })
  const { stops } = (await account.call('GET', `${path}/stops${SPAN}`)).body
  expect(stops.map(({ start, end, duration }: never) => [start, end, duration])).toEqual([
    [at(0), at(20), 1200],
    [at(35), at(60), 1500],
  ])
  const { days } = (await account.call('GET', `${path}/summary${SPAN}`)).body
  expect(days).toEqual([
    {
      date: '2026-11-13',
      locations: 7,
      trips: 2,
      distance: expect.closeTo(19_965, 0),
      movingSeconds: 1500,
      topSpeed: 72.5,
      meanSpeed: expect.any(Number),
    },
  ])
})

test('imprecise locations of a boat are no stops and cost nothing of its way', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const path = `/api/devices/${device}`
  await account.call('POST', `${path}/locations`, {
    body: Array.from({ length: 361 }, (_, index) =>
      fix(index / 3, index * 50, index % 20 === 10 ? { accuracy: 900 } : {}),
    ),
  })
  const { stops } = (await account.call('GET', `${path}/stops${SPAN}`)).body
  expect(stops).toEqual([])
  const { trips } = (await account.call('GET', `${path}/trips${SPAN}`)).body
  expect(trips).toMatchObject([{ distance: expect.closeTo(18_000, 0), duration: 7200 }])
  const { days } = (await account.call('GET', `${path}/summary${SPAN}`)).body
  expect(days).toMatchObject([{ trips: 1, distance: expect.closeTo(18_000, 0) }])
})

test('a span must have both ends, in order, and at most 31 days', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  for (const [query, pointer] of [
    ['', '#/query/from'],
    [`?from=${at(0)}`, '#/query/to'],
    [`?from=${at(10)}&to=${at(0)}`, '#/query/from'],
    [`?from=2026-01-01T00:00:00Z&to=2026-02-01T01:00:01Z`, '#/query/to'],
  ] as const) {
    const reply = await account.call('GET', `/api/devices/${device}/trips${query}`)
    expect(reply.status).toBe(400)
    expect(reply.body.errors[0].pointer).toBe(pointer)
  }
  const month = '?from=2026-10-01T00:00:00%2B01:00&to=2026-11-01T00:00:00Z'
  expect((await account.call('GET', `/api/devices/${device}/trips${month}`)).status).toBe(200)
})

test('more than 100,000 locations are too many', async () => {
  const account = await openAccount()
  const device = await createDevice(account)
  const fill = (from: number, count: number) =>
    env.DB.prepare(
      `WITH RECURSIVE n(i) AS (SELECT ?1 UNION ALL SELECT i + 1 FROM n WHERE i < ?2 - 1)
        INSERT INTO locations (device_key, time, latitude, longitude, received_at)
        SELECT key, ?3 + i * 1000, 0, i * 10, ?3 FROM n, devices WHERE id = ?4`,
    )
      .bind(from, from + count, START, device)
      .run()
  await fill(0, 100_000)
  const span = `?from=${new Date(START).toISOString()}&to=${new Date(START + 200_000_000).toISOString()}`
  const path = `/api/devices/${device}/summary${span}`
  const whole = await account.call('GET', path)
  expect(whole.status).toBe(200)
  const counts = whole.body.days.map(({ locations }: { locations: number }) => locations)
  expect(counts.reduce((sum: number, count: number) => sum + count, 0)).toBe(100_000)
  await fill(100_000, 1)
  const refused = await account.call('GET', path)
  expect(refused.status).toBe(400)
  expect(refused.body.code).toBe('span-too-large')
})
