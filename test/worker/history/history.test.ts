import { env } from 'cloudflare:workers'
import { expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { deleteHistory } from '../../../src/locations/history/objects.ts'
import { writeNextPart } from '../../../src/sweep/history/writeMonth.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import type { TestAccount } from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { callAsOperator } from '../../support/http.ts'
import { iso } from '../../support/time.ts'
import {
  bucket,
  DAY,
  hourly,
  MINUTE,
  monthName,
  monthsAgo,
  monthsOf,
  moveAll,
  moveOnce,
  numberOf,
  OLD,
  objectsOf,
  openFleet,
  reportAll,
  rowsOf,
} from './fleet.ts'

/** Locations every hour, over three old months. */
const TIMES = [OLD, monthsAgo(5), monthsAgo(4)].flatMap((month) => hourly(month))

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

test('old months move to the bucket, and nobody who reads notices', async () => {
  const { account, devices, device } = await openFleet(TIMES)
  const before = await readEverything(account, device)
  await moveAll(account)
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

const timesOf = async (account: TestAccount, device: string, query = '') => {
  const { status, body } = await account.call('GET', `/api/devices/${device}/locations?${query}`)
  expect(status).toBe(200)
  return body.locations.map(({ dateTime }: { dateTime: string }) => Date.parse(dateTime))
}

test('late locations of a moved month stay in the cell, and repeats of moved ones are known', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await timesOf(account, device)
  await moveAll(account)
  const late = OLD + 90 * MINUTE
  expect(await reportAll(account, device, [late])).toMatchObject({ accepted: 1 })
  await moveAll(account)
  expect(await monthsOf(account)).toHaveLength(1)
  expect(await rowsOf(device)).toBe(2)
  expect(await timesOf(account, device)).toEqual([...before, late].sort((a, b) => a - b))
  expect(await timesOf(account, device, 'order=desc&limit=1000')).toEqual(
    [...before, late].sort((a, b) => b - a),
  )

  const [first, second] = hourly(OLD, 2) as [number, number]
  const repeat = await reportAll(account, device, [first])
  expect(repeat).toMatchObject({ accepted: 0, duplicates: 1, conflicts: 0 })
  const conflict = await reportAll(account, device, [OLD + 91 * MINUTE, OLD + 92 * MINUTE, second])
  expect(conflict).toMatchObject({ accepted: 2, duplicates: 0, conflicts: 1 })
  const { body } = await account.call(
    'GET',
    `/api/devices/${device}/locations?from=${iso(second)}&to=${iso(second)}`,
  )
  expect(body.locations).toMatchObject([{ latitude: 47.01, speed: 1 }])
})

test('a location that both have is read once, as it was stored first', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await timesOf(account, device)
  await moveAll(account)
  const time = hourly(OLD)[3]
  await env.DB.prepare(
    `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
     SELECT key, ?2, 0, 0, 0 FROM devices WHERE id = ?1`,
  )
    .bind(device, time)
    .run()
  expect(await timesOf(account, device)).toEqual(before)
  const one = await account.call(
    'GET',
    `/api/devices/${device}/locations?from=${iso(time ?? 0)}&limit=1`,
  )
  expect(one.body.locations[0].latitude).toBe(47.03)
})

test('retention deletes whole months, and readers leave out the rest', async () => {
  const times = [...hourly(OLD), ...hourly(monthsAgo(5))]
  const { account, device } = await openFleet(times)
  await moveAll(account)
  // The day's end of retention is up to 24 hours later, and the track lasts 40.
  const border = monthsAgo(5) + 10 * 60 * MINUTE
  const retentionDays = Math.floor((Date.now() - border) / DAY)
  await account.call('PATCH', '/api/account', { body: { retentionDays } })
  const kept = times.filter((time) => time >= Date.now() - retentionDays * DAY)
  expect(kept.length).toBeGreaterThan(0)
  expect((await timesOf(account, device)).slice(0, -1)).toEqual(kept)
  await moveAll(account)
  expect((await monthsOf(account)).map(({ month }) => month)).toEqual([monthName(monthsAgo(5))])
  expect(await objectsOf(account)).toHaveLength(1)
  expect((await timesOf(account, device)).slice(0, -1)).toEqual(kept)
})

test('a deleted device is restored with its moved months; an erased account leaves no object', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await timesOf(account, device)
  await moveAll(account)
  expect((await account.call('DELETE', `/api/devices/${device}`)).status).toBe(200)
  expect((await account.call('GET', `/api/devices/${device}/locations`)).status).toBe(404)
  const restored = await account.call('POST', `/api/devices/${device}/restore`)
  expect(restored.status).toBe(200)
  expect(await timesOf(account, device)).toEqual(before)

  expect(await objectsOf(account)).toHaveLength(1)
  const body = { userName: account.userName }
  const erased = await callAsOperator('DELETE', `/admin/accounts/${account.id}?now=true`, { body })
  expect(erased.status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 2 * MINUTE })
  try {
    await sweep(env, Date.now())
    expect(await objectsOf(account)).toEqual([])
    expect(await monthsOf(account)).toEqual([])
  } finally {
    vi.useRealTimers()
  }
})

test('without a bucket nothing moves', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  await moveOnce(account, { HISTORY: undefined as never })
  expect(await monthsOf(account)).toEqual([])
  expect(await rowsOf(device)).toBe(41)
  const path = `/api/devices/${device}/locations`
  const reply = await callWithBindings({ HISTORY: undefined as never }, 'GET', path, {
    token: account.token,
  })
  expect(reply.body.locations).toHaveLength(41)
  expect(await objectsOf(account)).toEqual([])
})

test.each([
  ['fails', () => Promise.reject(new Error('the bucket is gone'))],
  ['does not answer', () => new Promise(() => {})],
])('an emergency is raised though the bucket %s', async (_, get) => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await timesOf(account, device)
  await moveAll(account)
  const errors = vi.spyOn(console, 'error').mockImplementation(() => {})
  const [old = 0] = hourly(OLD)
  const located = { latitude: 1, longitude: 2, alerts: ['SOSButton'] }
  const bindings = { DB: watchStatements(env.DB, () => {}), HISTORY: { get } as never }
  const path = `/api/devices/${device}/locations`
  const reply = await callWithBindings(bindings, 'POST', path, {
    token: account.token,
    body: [
      { dateTime: iso(old), latitude: 3, longitude: 4 },
      { dateTime: iso(Date.now() - 1000), ...located },
    ],
  })
  errors.mockRestore()
  expect(reply.status, reply.text).toBe(201)
  const { alerts } = (await account.call('GET', `/api/devices/${device}/alerts`)).body
  expect(alerts).toHaveLength(1)
  // The repeat is stored, and readers see what was stored first.
  const times = await timesOf(account, device)
  expect(times).toHaveLength(before.length + 1)
  expect(new Set(times).size).toBe(times.length)
})

test('what is being written of an erased account is given up with it', async () => {
  const { account } = await openFleet(hourly(OLD))
  const number = (await numberOf(account)) ?? 0
  const month = monthName(OLD)
  const move = { bucket, db: openCell(env, 0), accountId: account.id, number, month }
  expect(await writeNextPart({ ...move, now: Date.now(), pagesPerPart: 1 })).toBe(false)
  const stored = await bucket.get(`accounts/${account.id}/${month}.progress`)
  if (!stored) throw new Error('nothing was written')
  const { object, uploadId } = await stored.json<{ object: string; uploadId: string }>()
  await deleteHistory(bucket, account.id)
  expect(await objectsOf(account)).toEqual([])
  const upload = bucket.resumeMultipartUpload(object, uploadId)
  await expect(upload.uploadPart(2, new Uint8Array(8))).rejects.toThrow()
})
