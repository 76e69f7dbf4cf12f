import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { addUsage } from '../../../src/account/store.ts'
import { openCell } from '../../../src/db/open.ts'
import { fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { callWithBindings, failStatements, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator, type Reply } from '../../support/http.ts'
import { iso } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

let nextTime = Date.now() - 3_600_000
/** Locations that no test has reported before. */
const places = (count: number, more: object = {}) =>
  Array.from({ length: count }, () => ({
    dateTime: iso(nextTime++),
    latitude: 1,
    longitude: 2,
    ...more,
  }))

interface Fleet extends TestAccount {
  device: string
  path: string
}

const openFleet = async (
  budgets: object = {},
  options: Parameters<typeof openAccount>[0] = {},
): Promise<Fleet> => {
  const account = await openAccount(options)
  const device = await createDevice(account)
  if (Object.keys(budgets).length > 0) await setBudgets(account, budgets)
  return { ...account, device, path: `/api/devices/${device}/locations` }
}
const setBudgets = async (account: { id: string }, budgets: object) => {
  const reply = await callAsOperator('PATCH', `/admin/accounts/${account.id}`, {
    body: { budgets },
  })
  expect(reply.status).toBe(200)
}
const report = (fleet: Fleet, body: unknown, headers: Record<string, string> = {}) =>
  fleet.call('POST', fleet.path, { body, headers })
const refusalOf = ({ status, body }: Reply) => [status, body.code]
const accepts = async (fleet: Fleet, body: unknown) =>
  expect((await report(fleet, body)).status).toBe(201)
const usageOf = async (fleet: Fleet) =>
  (await fleet.call('GET', '/api/account')).body.account.budgetUsage
const storedLocations = async (fleet: Fleet) =>
  (await fleet.call('GET', fleet.path)).body.locations.length
const later = (ms: number) => vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + ms })

describe('the daily budget of locations', () => {
  test('refuses reports with 429 until the next day of the account’s zone', async () => {
    const timeZone = 'Pacific/Auckland'
    const fleet = await openFleet({ locationsPerDay: 5 }, { timeZone })
    await accepts(fleet, places(3))
    // A report is stored whole or not at all, so one may pass the budget.
    await accepts(fleet, places(4))
    const refused = await report(fleet, places(1))
    expect(refusalOf(refused)).toEqual([429, 'daily-locations-reached'])
    const { resetAt } = refused.body
    const dayIn = (at: number) => new Intl.DateTimeFormat('en-CA', { timeZone }).format(at)
    expect(dayIn(Date.parse(resetAt))).not.toBe(dayIn(Date.now()))
    expect(dayIn(Date.parse(resetAt) - 1)).toBe(dayIn(Date.now()))
    const seconds = Number(refused.headers.get('Retry-After'))
    expect(Math.abs(Date.now() + seconds * 1000 - Date.parse(resetAt))).toBeLessThan(5000)
    expect(await storedLocations(fleet)).toBe(7)

    const reportAt = async (at: number) => {
      vi.useFakeTimers({ toFake: ['Date'], now: at })
      const token = await fetchToken(fleet.userName, fleet.apiKey)
      return (await call('POST', fleet.path, { token, body: places(1) })).status
    }
    expect(await reportAt(Date.parse(resetAt) - 1)).toBe(429)
    expect(await reportAt(Date.parse(resetAt))).toBe(201)
  })

  test('never refuses an alert, nor a report that carries an emergency', async () => {
    const fleet = await openFleet({ locationsPerDay: 0, storageBytes: 0 })
    expect(refusalOf(await report(fleet, places(1)))).toEqual([409, 'storage-full'])
    await accepts(fleet, [...places(1), ...places(1, { hasCriticalAlert: true })])
    await accepts(fleet, places(1, { alerts: [7, 'SOSButton'] }))
    expect((await raiseAlert(fleet, fleet.device, { alertName: 'LowBattery' })).status).toBe(201)
    for (const more of [{ hasCriticalAlert: false }, { alerts: ['LowBattery'] }])
      expect(refusalOf(await report(fleet, places(1, more)))).toEqual([409, 'storage-full'])
  })

  test('counts neither duplicates nor what was refused', async () => {
    const fleet = await openFleet({ locationsPerDay: 4 })
    const first = places(3)
    await accepts(fleet, first)
    for (let repeat = 0; repeat < 3; repeat++) await accepts(fleet, first)
    const unknown = await fleet.call('POST', '/api/devices/dev_unknown/locations', {
      body: places(5),
    })
    expect(unknown.status).toBe(404)
    await accepts(fleet, places(1))
    expect((await report(fleet, places(1))).status).toBe(429)
  })

  test('holds for concurrent reports of one isolate', async () => {
    const fleet = await openFleet({ locationsPerDay: 10 })
    const replies = await Promise.all(Array.from({ length: 30 }, () => report(fleet, places(1))))
    expect(replies.filter(({ status }) => status === 201)).toHaveLength(10)
    expect(replies.filter(({ status }) => status === 429)).toHaveLength(20)
  })

  test('is not kept under an Idempotency-Key: the same request succeeds later', async () => {
    const fleet = await openFleet({ locationsPerDay: 0 })
    const body = places(1)
    expect((await report(fleet, body, { 'Idempotency-Key': 'x' })).status).toBe(429)
    await setBudgets(fleet, { locationsPerDay: 10 })
    later(11_000)
    expect((await report(fleet, body, { 'Idempotency-Key': 'x' })).status).toBe(201)
  })
})

test('the storage budget refuses reports with 409: 64 bytes a location and what has no column', async () => {
  const attributes = { note: 'x'.repeat(900) }
  const fleet = await openFleet({ storageBytes: 1150 })
  await accepts(fleet, places(3))
  await accepts(fleet, places(1, { attributes }))
  const refused = await report(fleet, places(1))
  expect(refusalOf(refused)).toEqual([409, 'storage-full'])
  expect(refused.body.detail).toMatch(/storage/)
  expect(await storedLocations(fleet)).toBe(4)
})

describe('a count', () => {
  const usageWrites = () => {
    const written: string[] = []
    const DB = watchStatements(env.DB, (sql) => {
      if (/insert into "account_usage"/i.test(sql)) written.push(sql)
    })
    return { DB, written }
  }

  test('is written after a minute, with the next report', async () => {
    const fleet = await openFleet()
    const { DB, written } = usageWrites()
    const send = (body: unknown) =>
      callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body })
    for (let count = 0; count < 20; count++) await send(places(1))
    expect(written).toHaveLength(0)
    later(61_000)
    await send(places(1))
    expect(written).toHaveLength(1)
    const { date, locations, storageBytes } = await usageOf(fleet)
    expect([date, locations, storageBytes]).toEqual([iso(Date.now()).slice(0, 10), 21, 21 * 64])
    for (let count = 0; count < 5; count++) await send(places(1))
    expect(written).toHaveLength(1)
  })

  test('is written after a thousand locations', async () => {
    const fleet = await openFleet()
    const { DB, written } = usageWrites()
    const send = (body: unknown) =>
      callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body })
    await send(places(999))
    expect(written).toHaveLength(0)
    await send(places(1))
    expect(written).toHaveLength(1)
    expect((await usageOf(fleet)).locations).toBe(1000)
    // At most once a second: large reports must not write a row each.
    later(500)
    await send(places(1000))
    expect(written).toHaveLength(1)
    later(500)
    await send(places(1000))
    expect(written).toHaveLength(2)
    expect((await usageOf(fleet)).locations).toBe(3000)
  })

  test('of other isolates is learned with the next write', async () => {
    const fleet = await openFleet({ locationsPerDay: 3000 })
    await accepts(fleet, places(1000))
    const other = { accountId: fleet.id, day: iso(Date.now()).slice(0, 10) }
    await addUsage(openCell(env, 0), { ...other, locations: 1500, storageBytes: 1500 * 64 })
    later(1000)
    await accepts(fleet, places(1000))
    expect((await usageOf(fleet)).locations).toBe(3500)
    expect((await report(fleet, places(1))).status).toBe(429)
  })

  test('of an earlier day does not count today, but its bytes do', async () => {
    const fleet = await openFleet({ locationsPerDay: 100 })
    await addUsage(openCell(env, 0), {
      accountId: fleet.id,
      day: '2026-01-01',
      locations: 500,
      storageBytes: 32_000,
    })
    await accepts(fleet, places(10))
    expect(await usageOf(fleet)).toEqual({
      date: iso(Date.now()).slice(0, 10),
      locations: 0,
      storageBytes: 32_000,
    })
    later(61_000)
    await accepts(fleet, places(1))
    expect(await usageOf(fleet)).toMatchObject({ locations: 11, storageBytes: 32_000 + 11 * 64 })
  })

  test('is not restored by a late write after the account was erased', async () => {
    const fleet = await openFleet()
    await callAsOperator('DELETE', `/admin/accounts/${fleet.id}`)
    const late = { accountId: fleet.id, day: '2026-01-01', locations: 1, storageBytes: 64 }
    expect(await addUsage(openCell(env, 0), late)).toBeNull()
    expect(
      await env.DB.prepare('SELECT count(*) AS n FROM account_usage WHERE account_id = ?')
        .bind(fleet.id)
        .first('n'),
    ).toBe(0)
  })
})

test('a raised budget holds within ten seconds, a lowered one within a minute', async () => {
  const fleet = await openFleet({ locationsPerDay: 1 })
  await accepts(fleet, places(1))
  expect((await report(fleet, places(1))).status).toBe(429)
  await setBudgets(fleet, { locationsPerDay: 1000 })
  later(10_000)
  await accepts(fleet, places(1))
  await setBudgets(fleet, { locationsPerDay: 1 })
  vi.setSystemTime(Date.now() + 61_000)
  await accepts(fleet, places(1))
  expect((await report(fleet, places(1))).status).toBe(429)
})

test('a refused flood reads nothing from the database', async () => {
  const fleet = await openFleet({ locationsPerDay: 0 })
  await report(fleet, places(1))
  const statements: string[] = []
  const DB = watchStatements(env.DB, (sql) => statements.push(sql))
  for (let count = 0; count < 20; count++)
    expect(
      (
        await callWithBindings({ DB }, 'POST', fleet.path, {
          token: fleet.token,
          body: places(10),
        })
      ).status,
    ).toBe(429)
  expect(statements.filter((sql) => /account_usage|locations/.test(sql))).toEqual([])
})

test('a usage that cannot be read refuses no report', async () => {
  const fleet = await openFleet({ locationsPerDay: 0 })
  const DB = failStatements(env.DB, /account_usage/)
  const body = places(1)
  const reply = await callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body })
  expect(reply.status).toBe(201)
})
