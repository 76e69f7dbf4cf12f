import { env } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { writeNextPart } from '../../../src/sweep/history/writeMonth.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { iso } from '../../support/time.ts'
import {
  bucket,
  hourly,
  monthName,
  monthsOf,
  moveAll,
  moveOnce,
  numberOf,
  OLD,
  objectsOf,
  openFleet,
  rowsOf,
} from './fleet.ts'

const CALLS = ['get', 'put', 'delete', 'list', 'createMultipartUpload', 'uploadPart', 'complete']

/** The same bucket, whose n-th call fails, before or after it has taken effect. */
const failingBucket = (n: number, isDone: boolean) => {
  let calls = 0
  const wrap = <T extends object>(target: T): T =>
    new Proxy(target, {
      get(_, name) {
        const member = Reflect.get(target, name)
        if (typeof member !== 'function') return member
        if (name === 'resumeMultipartUpload')
          return (...given: unknown[]) => wrap(member.apply(target, given))
        if (!CALLS.includes(String(name))) return member.bind(target)
        return async (...given: unknown[]) => {
          const fails = ++calls === n
          if (fails && !isDone) throw new Error('the bucket is gone')
          const result = await member.apply(target, given)
          if (fails) throw new Error('the bucket is gone')
          return result
        }
      },
    })
  return { bucket: wrap(bucket), calls: () => calls }
}

const readTrack = async (account: TestAccount, device: string) => {
  const path = `/api/devices/${device}/locations`
  const reply = await account.call('GET', path)
  expect(reply.status).toBe(200)
  const backwards = await account.call('GET', `${path}?order=desc&limit=1000`)
  expect(backwards.body.locations.toReversed()).toEqual(reply.body.locations)
  return reply.body.locations
}

/** The month ends up in one object that is recorded, and nothing else but what a crash left. */
const expectMoved = async (account: TestAccount, device: string) => {
  await moveAll(account, 3)
  const [month, ...others] = await monthsOf(account)
  expect(others).toEqual([])
  expect(month).toMatchObject({ month: monthName(OLD), locations: 80, next_group: null })
  expect(await objectsOf(account)).toContain(month?.object)
  expect(await rowsOf(device)).toBe(1)
}

test.each([false, true])(
  'a run that ends at any call of the bucket (done: %s)',
  async (isDone) => {
    for (let n = 1, isReached = true; isReached; n++) {
      const { account, device } = await openFleet(hourly(OLD))
      const before = await readTrack(account, device)
      const failing = failingBucket(n, isDone)
      for (let runs = 0; runs < 2; runs++) {
        await moveOnce(account, { HISTORY: failing.bucket })
        expect(await readTrack(account, device), `call ${n}`).toEqual(before)
      }
      await expectMoved(account, device)
      expect(await readTrack(account, device), `call ${n}`).toEqual(before)
      isReached = failing.calls() >= n
      expect(n).toBeLessThan(30)
    }
  },
  180_000,
)

test.each([
  ['recording the month', /INSERT INTO "archived_months"/, false],
  ['recording the month, which was committed', /INSERT INTO "archived_months"/, true],
  ['deleting the rows', /DELETE FROM "locations"/, false],
  ['deleting the rows, which was committed', /DELETE FROM "locations"/, true],
  ['noting how far it has come', /update "archived_months"/, false],
])('a run that ends when %s', async (_, pattern, isCommitted) => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await readTrack(account, device)
  const failing = failExecutions(env.DB, { pattern, times: 1, isCommitted })
  for (let runs = 0; runs < 3; runs++) {
    await moveOnce(account, { DB: failing.db })
    expect(await readTrack(account, device)).toEqual(before)
  }
  expect(failing.runs()).toBeGreaterThan(0)
  await expectMoved(account, device)
  expect(await readTrack(account, device)).toEqual(before)
})

test('rows that arrive while a month is written are neither lost nor doubled', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  const late = { dateTime: iso(OLD + 5), latitude: 1, longitude: 2 }
  let isSent = false
  const arriving = new Proxy(bucket, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (name !== 'createMultipartUpload') return member.bind(target)
      return async (...given: unknown[]) => {
        const upload = await member.apply(target, given)
        const at = `/api/devices/${device}/locations`
        if (!isSent) await account.call('POST', at, { body: late })
        isSent = true
        return upload
      }
    },
  })
  await moveOnce(account, { HISTORY: arriving })
  const after = await readTrack(account, device)
  expect(after).toHaveLength(42)
  await moveAll(account)
  expect(await readTrack(account, device)).toEqual(after)
})

test('two runs at once leave one object that is recorded', async () => {
  const { account, device } = await openFleet(hourly(OLD))
  const before = await readTrack(account, device)
  await Promise.all([moveOnce(account), moveOnce(account)])
  expect(await readTrack(account, device)).toEqual(before)
  await expectMoved(account, device)
  expect(await objectsOf(account)).toHaveLength(1)
  expect(await readTrack(account, device)).toEqual(before)
})

test('a long month is written in parts by several runs, and a device is read without the others', async () => {
  const account = await openAccount()
  const devices = [await createDevice(account), await createDevice(account)]
  for (const device of devices)
    await env.DB.prepare(
      `INSERT INTO locations (device_key, time, latitude, longitude, received_at)
       WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 11999)
       SELECT key, ?2 + i * 60000, i * 1000 + key % 7, -i * 777, ?2 FROM n, devices WHERE id = ?1`,
    )
      .bind(device, OLD)
      .run()
  const last = devices[1] as string
  const path = `/api/devices/${last}/locations?from=${iso(OLD)}&to=${iso(OLD + 3_600_000)}`
  const before = (await account.call('GET', path)).body.locations
  expect(before).toHaveLength(61)
  const move = {
    bucket,
    db: openCell(env, 0),
    accountId: account.id,
    number: (await numberOf(account)) ?? 0,
    month: monthName(OLD),
    now: Date.now(),
    pagesPerPart: 1,
  }
  // Interrupted in the middle, with another bucket binding, as a further isolate has one.
  expect(await writeNextPart(move)).toBe(false)
  await expect(writeNextPart({ ...move, bucket: failingBucket(2, false).bucket })).rejects.toThrow()
  let parts = 0
  while (!(await writeNextPart(move))) parts++
  expect(parts).toBe(3)
  const [month] = await monthsOf(account)
  expect(month).toMatchObject({ locations: 23_998 })
  expect(month?.bytes).toBeGreaterThan(3 * 8 * 2 ** 20)
  await moveAll(account)
  expect(await rowsOf(last)).toBe(1)

  let bytes = 0
  const counted = new Proxy(bucket, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (name !== 'get') return member.bind(target)
      return (key: string, options: { range: { length: number } }) => {
        bytes += options.range.length
        return target.get(key, options)
      }
    },
  })
  const { readMonths } = await import('../../../src/locations/history/monthFile.ts')
  const deviceKey = await env.DB.prepare('SELECT key FROM devices WHERE id = ?')
    .bind(devices[0])
    .first<number>('key')
  const rows = await readMonths(
    counted,
    [{ object: month?.object ?? '', bytes: month?.bytes ?? 0 }],
    {
      deviceKey: deviceKey ?? 0,
      from: OLD,
      to: OLD + 3_600_000,
      limit: 1000,
      order: 'asc',
    },
  )
  expect(rows).toHaveLength(61)
  expect(bytes).toBeLessThan(300_000)
  expect((await account.call('GET', path)).body.locations).toEqual(before)
})
