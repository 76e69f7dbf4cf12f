import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { USAGE_TRIGGERS } from '../../../scripts/migrations/usageTriggers.ts'
import { openCell } from '../../../src/db/open.ts'
import { addUsage } from '../../../src/db/queries/usage.ts'
import { eraseAccount, fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { callWithBindings, failStatements, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { call, callAsOperator, type Reply } from '../../support/http.ts'
import { eventually, iso } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

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

  test('never refuses an emergency, nor a report that carries one', async () => {
    const fleet = await openFleet({ locationsPerDay: 0, storageBytes: 0 })
    expect(refusalOf(await report(fleet, places(1)))).toEqual([409, 'storage-full'])
    await accepts(fleet, [...places(1), ...places(1, { hasCriticalAlert: true })])
    await accepts(fleet, places(1, { alerts: [7, 'SOSButton'] }))
    expect((await raiseAlert(fleet, fleet.device, { alertName: 'SOSButton' })).status).toBe(201)
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
  const fleet = await openFleet()
  const { storageBytes } = await usageOf(fleet)
  await setBudgets(fleet, { storageBytes: storageBytes + 1150 })
  await accepts(fleet, places(3))
  await accepts(fleet, places(1, { attributes }))
  const refused = await report(fleet, places(1))
  expect(refusalOf(refused)).toEqual([409, 'storage-full'])
  expect(refused.body.detail).toMatch(/storage/)
  expect(await storedLocations(fleet)).toBe(4)
})

describe('stored bytes', () => {
  const recount = async (id: string) => {
    const read = () =>
      env.DB.prepare('SELECT storage_bytes FROM account_usage WHERE account_id = ?')
        .bind(id)
        .first<number>('storage_bytes')
    const counted = await read()
    await env.DB.batch(USAGE_TRIGGERS.map(({ count }) => env.DB.prepare(count)))
    return { counted, stored: Number(await read()) - Number(counted) }
  }

  test('are those of every table, by triggers', async () => {
    const fleet = await openFleet()
    const before = (await usageOf(fleet)).storageBytes
    expect(before).toBeGreaterThan(1000)
    const user = { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'Europe/Lisbon' }
    const made = await fleet.call('POST', '/api/users', {
      body: { ...user, privileges: ['read'], description: 'ö'.repeat(1000) },
    })
    expect(made.status).toBe(201)
    expect((await usageOf(fleet)).storageBytes).toBeGreaterThan(before + 2000)
    const path = `/api/users/${made.body.id}`
    await fleet.call('PATCH', path, { body: { description: '' } })
    expect((await usageOf(fleet)).storageBytes).toBeLessThan(before + 2000)
    await fleet.call('POST', '/api/groups', { body: { name: 'North', devices: [fleet.device] } })
    await raiseAlert(fleet, fleet.device, { alertName: 'SOSButton', text: 'x'.repeat(1000) })
    await fleet.call('DELETE', path)
    const { counted, stored } = await recount(fleet.id)
    expect(counted).toBe(stored)
  })

  test('over the budget refuse what stores more, but no way to store less', async () => {
    const fleet = await openFleet()
    const group = await fleet.call('POST', '/api/groups', { body: { name: 'North' } })
    const path = `/api/groups/${group.body.id}`
    await setBudgets(fleet, { storageBytes: (await usageOf(fleet)).storageBytes })
    later(11_000)
    const another = await fleet.call('POST', '/api/groups', { body: { name: 'South' } })
    expect(refusalOf(another)).toEqual([409, 'storage-full'])
    expect(refusalOf(await raiseAlert(fleet, fleet.device, { alertName: 'LowBattery' }))).toEqual([
      409,
      'storage-full',
    ])
    const patch = (description: string) => fleet.call('PATCH', path, { body: { description } })
    expect(refusalOf(await patch('x'.repeat(300)))).toEqual([409, 'storage-full'])
    expect((await patch('x')).status).toBe(200)
    // Each edit stores events: beyond 110 % small ones are refused, too.
    const { storageBytes } = await usageOf(fleet)
    await setBudgets(fleet, { storageBytes: Math.floor(storageBytes / 1.2) })
    expect(refusalOf(await patch('y'))).toEqual([409, 'storage-full'])
    expect((await raiseAlert(fleet, fleet.device, { alertName: 'SOSButton' })).status).toBe(201)
    expect((await fleet.call('DELETE', path)).status).toBe(200)
    const settings = { body: { retentionDays: 30 } }
    expect((await fleet.call('PATCH', '/api/account', settings)).status).toBe(200)
  })

  test('far over the budget do not grow by messages that are not sent', async () => {
    const fleet = await openFleet()
    for (let number = 0; number < 10; number++)
      await createUser(fleet, { email: `u${number}@example.com`, privileges: ['admin'] })
    const limits = { dailyEmailLimit: 0, emergencyReserve: { email: 0, sms: 0 } }
    const limited = await fleet.call('PATCH', `/api/devices/${fleet.device}`, { body: { limits } })
    expect(limited.status).toBe(200)
    const settings = { dailyNoticeLimit: { email: 1, sms: 0 } }
    await fleet.call('PATCH', '/api/account', { body: settings })
    const raise = (alertName: string) =>
      raiseAlert(fleet, fleet.device, { alertName, emergency: true })
    const storedMessages = () =>
      env.DB.prepare('SELECT status, count(*) AS n FROM messages WHERE account_id = ? GROUP BY 1')
        .bind(fleet.id)
        .all<{ status: string; n: number }>()
        .then(({ results }) => results.find(({ status }) => status === 'suppressed')?.n ?? 0)
    expect((await raise('First')).status).toBe(201)
    await eventually(async () => expect(await storedMessages()).toBeGreaterThanOrEqual(9))
    const { storageBytes } = await usageOf(fleet)
    await setBudgets(fleet, { storageBytes })
    expect((await raise('Second')).status).toBe(201)
    await eventually(async () => expect(await storedMessages()).toBeGreaterThanOrEqual(19))
    const suppressed = await storedMessages()
    await setBudgets(fleet, { storageBytes: Math.floor(storageBytes / 1.3) })
    const { status, body } = await raise('Third')
    expect([status, body.alert.deliveries[0]?.status]).toEqual([201, 'suppressed'])
    const alertId = body.alert.id
    const lastEvent = async (type: string) =>
      (await fleet.call('GET', `/api/events?types=${type}`)).body.events.at(-1).data
    // Comes after all of its messages.
    await eventually(async () =>
      expect(await lastEvent('alert.undelivered')).toMatchObject({ alertId }),
    )
    expect(await lastEvent('message.suppressed')).toMatchObject({ alertId, messages: 10 })
    expect(await storedMessages()).toBe(suppressed)
  })

  test('that other requests have stored count at the next one', async () => {
    const fleet = await openFleet()
    const { storageBytes } = await usageOf(fleet)
    await setBudgets(fleet, { storageBytes: storageBytes + 3000 })
    later(11_000)
    const statuses: number[] = []
    for (let number = 0; number < 8; number++) {
      vi.setSystemTime(Date.now() + 1100)
      const body = { name: `Group ${number}`, description: 'x'.repeat(500) }
      const token = fleet.token
      statuses.push((await callWithBindings({}, 'POST', '/api/groups', { token, body })).status)
    }
    expect(statuses[0]).toBe(201)
    expect(statuses.at(-1)).toBe(409)
  })
})

describe('a count', () => {
  const usageWrites = () => {
    const written: string[] = []
    const DB = watchStatements(env.DB, (sql) => {
      if (/insert into "account_usage"/i.test(sql)) written.push(sql)
    })
    return { DB, written }
  }

  test('is written with the first report, and again after 25 seconds', async () => {
    const fleet = await openFleet()
    const { storageBytes: before } = await usageOf(fleet)
    const { DB, written } = usageWrites()
    const send = (body: unknown) =>
      callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body })
    for (let count = 0; count < 20; count++) await send(places(1))
    expect(written).toHaveLength(1)
    later(25_000)
    await send(places(1))
    expect(written).toHaveLength(2)
    const { date, locations, storageBytes } = await usageOf(fleet)
    expect([date, locations]).toEqual([iso(Date.now()).slice(0, 10), 21])
    expect(storageBytes).toBe(before + 21 * 64)
    for (let count = 0; count < 5; count++) await send(places(1))
    expect(written).toHaveLength(2)
  })

  test('is written though no further report comes, once for all that came', async () => {
    const fleet = await openFleet()
    const { DB, written } = usageWrites()
    const send = () =>
      callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body: places(1) })
    await send()
    let end = () => {}
    const waits = vi
      .spyOn(scheduler, 'wait')
      .mockImplementationOnce(() => new Promise<void>((resolve) => (end = resolve)))
    const others = send()
    await vi.waitFor(() => expect(waits).toHaveBeenCalled())
    expect(waits.mock.calls[0]?.[0]).toBeLessThanOrEqual(25_000)
    waits.mockRestore()
    await send()
    expect(written).toHaveLength(1)
    end()
    await others
    expect(written).toHaveLength(2)
    const { locations } = await usageOf(fleet)
    expect(locations).toBe(3)
  })

  test('is written when the account is read', async () => {
    const fleet = await openFleet()
    await accepts(fleet, places(1))
    await accepts(fleet, places(1))
    later(1000)
    expect((await usageOf(fleet)).locations).toBe(2)
  })

  test('is written after a thousand locations', async () => {
    const fleet = await openFleet()
    const { DB, written } = usageWrites()
    const send = (body: unknown) =>
      callWithBindings({ DB }, 'POST', fleet.path, { token: fleet.token, body })
    await send(places(1))
    written.length = 0
    later(1000)
    await send(places(999))
    expect(written).toHaveLength(0)
    await send(places(1))
    expect(written).toHaveLength(1)
    expect((await usageOf(fleet)).locations).toBe(1001)
    // At most once a second: large reports must not write a row each.
    later(500)
    await send(places(1000))
    expect(written).toHaveLength(1)
    later(500)
    await send(places(1000))
    expect(written).toHaveLength(2)
    expect((await usageOf(fleet)).locations).toBe(3001)
  })

  test('of other isolates is learned with the next write', async () => {
    const fleet = await openFleet({ locationsPerDay: 3000 })
    await accepts(fleet, places(1000))
    const other = { accountId: fleet.id, day: iso(Date.now()).slice(0, 10), requests: 0 }
    await addUsage(openCell(env, 0), { ...other, locations: 1500, storageBytes: 1500 * 64 })
    later(1000)
    await accepts(fleet, places(1000))
    expect((await usageOf(fleet)).locations).toBe(3500)
    expect((await report(fleet, places(1))).status).toBe(429)
  })

  test('of an earlier day does not count today, but its bytes do', async () => {
    const fleet = await openFleet({ locationsPerDay: 100 })
    await env.DB.prepare(
      `UPDATE account_usage SET day = '2026-01-01', locations = 500, storage_bytes = 32000
       WHERE account_id = ?`,
    )
      .bind(fleet.id)
      .run()
    expect(await usageOf(fleet)).toMatchObject({
      date: iso(Date.now()).slice(0, 10),
      locations: 0,
      storageBytes: 32_000,
    })
    await accepts(fleet, places(10))
    expect(await usageOf(fleet)).toMatchObject({ locations: 10, storageBytes: 32_000 + 10 * 64 })
  })

  test('is not changed by a late write after the account was erased', async () => {
    const fleet = await openFleet()
    await eraseAccount(fleet)
    const counts = { locations: 1, requests: 1, storageBytes: 64 }
    const late = { accountId: fleet.id, day: '2026-01-01', ...counts }
    expect(await addUsage(openCell(env, 0), late)).toBeNull()
    expect(
      await env.DB.prepare('SELECT locations FROM account_usage WHERE account_id = ?')
        .bind(fleet.id)
        .first('locations'),
    ).toBe(0)
  })
})

test('a raised budget holds within ten seconds, a lowered one within a minute', async () => {
  const fleet = await openFleet({ locationsPerDay: 1 })
  await accepts(fleet, places(1))
  expect((await report(fleet, places(1))).status).toBe(429)
  // Not by the operator's route, with which this isolate would know it at once.
  const setLocationsPerDay = (value: number) =>
    env.DB.prepare('UPDATE accounts SET locations_per_day = ? WHERE id = ?')
      .bind(value, fleet.id)
      .run()
  await setLocationsPerDay(1000)
  later(10_000)
  await accepts(fleet, places(1))
  await setLocationsPerDay(1)
  vi.setSystemTime(Date.now() + 61_000)
  // It is learned with the write that follows this reply.
  await accepts(fleet, places(1))
  await eventually(async () => expect((await report(fleet, places(1))).status).toBe(429))
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

test('a usage that cannot be read refuses nothing', async () => {
  const { id, token } = await openAccount()
  await setBudgets({ id }, { locationsPerDay: 0, storageBytes: 0 })
  const DB = failStatements(env.DB, /account_usage/)
  const send = (path: string, body: object) =>
    callWithBindings({ DB }, 'POST', path, { token, body })
  const created = await send('/api/devices', { name: 'Tern 7' })
  expect(created.status).toBe(201)
  const path = `/api/devices/${created.body.device.id}/locations`
  expect((await send(path, places(1))).status).toBe(201)
})
