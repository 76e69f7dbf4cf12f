import { env } from 'cloudflare:workers'
import { beforeEach, expect, test } from 'vitest'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { iso } from '../../support/time.ts'

const DAY = 86_400_000
const MINUTE = 60_000
const bucket = env.HISTORY as R2Bucket

/** The first instant of the month that is this many before the current one. */
const monthsAgo = (count: number): number => {
  const now = new Date()
  return Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - count)
}
const OLD = monthsAgo(6)
const monthName = (at: number) => iso(at).slice(0, 7)

const place = (at: number, index: number) => ({
  dateTime: iso(at),
  latitude: 47 + index * 0.01,
  longitude: 8 + index * 0.001,
  ...(index % 2 && { altitude: 400.25, speed: index, accuracy: 5, source: 'gps' }),
  ...(index % 3 === 0 && { temperature: -3.5, attributes: { note: `n${index}`, level: index } }),
})

/** Locations every hour, over three old months and today. */
const TIMES = [OLD, monthsAgo(5), monthsAgo(4)].flatMap((month) =>
  Array.from({ length: 40 }, (_, hour) => month + hour * 60 * MINUTE + 1),
)

const reportAll = async (account: TestAccount, device: string, times: number[]) => {
  const body = times.map(place)
  const { status, body: reply } = await account.call('POST', `/api/devices/${device}/locations`, {
    body,
  })
  expect(status).toBe(201)
  return reply
}

const openFleet = async () => {
  const account = await openAccount({ licenses: 5 })
  const devices = [await createDevice(account), await createDevice(account)]
  for (const device of devices) await reportAll(account, device, [...TIMES, Date.now() - MINUTE])
  return { account, devices, device: devices[0] as string }
}

const rowsOf = (device: string) =>
  env.DB.prepare(
    'SELECT count(*) AS n FROM locations WHERE device_key = (SELECT key FROM devices WHERE id = ?)',
  )
    .bind(device)
    .first<number>('n')
const monthsOf = async (account: TestAccount) =>
  (
    await env.DB.prepare(
      'SELECT month, object, locations, next_group FROM archived_months WHERE account_id = ? ORDER BY month',
    )
      .bind(account.id)
      .all<{ month: string; object: string; locations: number; next_group: number | null }>()
  ).results
const objectsOf = async (account: TestAccount) =>
  (await bucket.list({ prefix: `accounts/${account.id}/` })).objects.map(({ key }) => key)

/** Each run goes on with one account: so many runs move everything. */
const sweepOften = async (runs = 6) => {
  for (let run = 0; run < runs; run++) await sweep(env, Date.now())
}

const createRule = async (account: TestAccount): Promise<string> => {
  const when = { type: 'value', member: 'level', above: 20 }
  const { body } = await account.call('POST', '/api/rules', {
    body: { name: 'Level', alertName: 'Level', when },
  })
  return body.rule.id
}

/** Everything that reads a track, in every order and shape. */
const readEverything = async (account: TestAccount, device: string) => {
  const at = `/api/devices/${device}`
  const [from, to] = [iso(OLD), iso(monthsAgo(-1))]
  const span = `from=${from}&to=${to}`
  const replies: unknown[] = []
  const get = async (path: string) => {
    const reply = await account.call('GET', path)
    expect(reply.status, path).toBe(200)
    const body = reply.text ?? JSON.stringify(reply.body)
    replies.push([path, body])
    return reply
  }
  for (const order of ['asc', 'desc'])
    for (const limit of [7, 1000]) {
      const pages: unknown[] = []
      let cursor: string | null = ''
      while (cursor !== null) {
        const more: string = cursor && `&cursor=${cursor}`
        const { body } = await account.call(
          'GET',
          `${at}/locations?order=${order}&limit=${limit}${more}`,
        )
        pages.push(body.locations)
        cursor = body.nextCursor
      }
      replies.push([order, limit, pages])
    }
  for (const format of ['csv', 'gpx', 'kml', 'geojson', 'json'])
    await get(`${at}/locations?format=${format}&simplify=1`)
  await get(`${at}/locations?format=csv&${span}`)
  await get(`${at}/lastLocation`)
  const trips = `from=${iso(monthsAgo(5) - 3 * DAY)}&to=${iso(monthsAgo(5) + 3 * DAY)}`
  for (const kind of ['trips', 'stops', 'summary']) await get(`${at}/${kind}?${trips}`)
  const whole = await account.call('POST', `${at}/locations`, { body: { from, to } })
  expect(whole.status).toBe(200)
  replies.push(whole.body.locations)
  const tested = await account.call('POST', `/api/rules/${await createRule(account)}/test`, {
    body: { deviceId: device, from, to: iso(OLD + 20 * DAY) },
  })
  expect(tested.status).toBe(200)
  expect(tested.body.alerts).not.toEqual([])
  replies.push(tested.body.alerts.map(({ dateTime }: { dateTime: string }) => dateTime))
  return replies
}

beforeEach(async () => {
  await env.DB.prepare('UPDATE sweep_positions SET position = 0').run()
})

test('old months move to the bucket, and nobody who reads notices', async () => {
  const { account, devices, device } = await openFleet()
  const before = await readEverything(account, device)
  await sweepOften()
  const months = await monthsOf(account)
  expect(months.map(({ month }) => month)).toEqual([OLD, monthsAgo(5), monthsAgo(4)].map(monthName))
  for (const { locations, next_group } of months)
    expect({ locations, next_group }).toEqual({ locations: 80, next_group: null })
  expect(await objectsOf(account)).toEqual(months.map(({ object }) => object))
  for (const one of devices) expect(await rowsOf(one)).toBe(1)
  expect(await readEverything(account, device)).toEqual(before)
  const entries = await account.call('GET', '/api/account/audit?action=history.archived')
  expect(entries.body.entries).toHaveLength(3)
})
