import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { dayStart } from '../../../src/domain/time/day.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { postDevice } from '../../support/devices.ts'
import { callAsOperator, type Reply } from '../../support/http.ts'

const licensesOf = async (account: TestAccount) =>
  (await account.call('GET', '/api/account')).body.account.licenses
const until = (expirationDate: string) => ({ expires: true, expirationDate })
const eventsOf = async (account: TestAccount, type: string) => {
  const { results } = await env.DB.prepare(
    'SELECT * FROM events WHERE account_id = ? AND type = ? ORDER BY sequence',
  )
    .bind(account.id, type)
    .all()
  return results
}

describe('time', () => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'] }))
  afterEach(() => void vi.useRealTimers())

  /** Sets the clock and returns the account with a new token: tokens last an hour. */
  const travel = async (account: TestAccount, at: number): Promise<TestAccount> => {
    vi.setSystemTime(at)
    const { body } = await account.call('POST', '/api/Auth/Token', {
      body: { userName: account.userName, apiKey: account.apiKey },
    })
    return {
      ...account,
      token: body.token,
      call: (method, path, options = {}) =>
        account.call(method, path, { token: body.token, ...options }),
    }
  }

  test.each([
    ['UTC', '2026-12-01'],
    ['America/New_York', '2026-11-01'],
    ['Europe/Lisbon', '2027-03-28'],
    ['Asia/Kolkata', '2026-12-01'],
    ['America/Santiago', '2026-09-06'],
    ['Pacific/Kiritimati', '2027-01-01'],
  ])(
    'in %s a device with the expiration date %s expires at its first millisecond, without a sweep',
    async (timeZone, date) => {
      const instant = dayStart(date, timeZone)
      vi.setSystemTime(instant - 3 * 86_400_000)
      let account = await openAccount({ licenses: 1, timeZone })
      const { body } = await postDevice(account, { name: 'Ending', limits: until(date) })
      expect(body.device.expires).toBe(new Date(instant).toISOString())
      account = await travel(account, instant - 1)
      expect((await account.call('GET', `/api/devices/${body.device.id}`)).body.device.state).toBe(
        'active',
      )
      const refused = await postDevice(account, { name: 'Early' })
      expect(refused.body).toMatchObject({
        status: 409,
        availableAt: new Date(instant).toISOString(),
      })
      vi.setSystemTime(instant)
      expect((await account.call('GET', `/api/devices/${body.device.id}`)).body.device.state).toBe(
        'expired',
      )
      expect(await licensesOf(account)).toEqual({ total: 1, used: 0, available: 1 })
      expect(
        (await callAsOperator('GET', `/admin/accounts/${account.id}`)).body.account.licenses.used,
      ).toBe(0)
      expect((await postDevice(account, { name: 'Next' })).status).toBe(201)
      expect((await account.call('POST', `/api/devices/${body.device.id}/reactivate`)).status).toBe(
        409,
      )
    },
  )

  test('a clock that goes back revives no device', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T12:00:00Z'))
    let account = await openAccount({ licenses: 1 })
    const { body } = await postDevice(account, { name: 'Ending', limits: until('2026-11-22') })
    account = await travel(account, Date.parse('2026-11-23T12:00:00Z'))
    expect((await postDevice(account, { name: 'Next' })).status).toBe(201)
    account = await travel(account, Date.parse('2026-11-20T12:00:00Z'))
    expect((await account.call('GET', `/api/devices/${body.device.id}`)).body.device.state).toBe(
      'expired',
    )
    expect(await licensesOf(account)).toEqual({ total: 1, used: 1, available: 0 })
    expect((await postDevice(account, { name: 'More' })).status).toBe(409)
  })

  test('the sweep records each expiry once, however often it runs, and again after a reactivation', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T12:00:00Z'))
    let account = await openAccount({ licenses: 5 })
    const made = await Promise.all(
      [1, 2, 3].map((n) => postDevice(account, { name: `D${n}`, limits: until('2026-11-22') })),
    )
    account = await travel(account, Date.parse('2026-11-22T00:00:30Z'))
    for (let run = 0; run < 3; run++) await sweep(env, Date.now())
    const events = await eventsOf(account, 'device.expired')
    expect(events.map(({ device_id }) => device_id).toSorted()).toEqual(
      made.map(({ body }) => body.device.id).toSorted(),
    )
    expect(new Set(events.map(({ time }) => time))).toEqual(
      new Set([Date.parse('2026-11-22T00:00:00Z')]),
    )
    await account.call('POST', `/api/devices/${made[0]?.body.device.id}/reactivate`, {
      body: { expirationDate: '2026-11-25' },
    })
    account = await travel(account, Date.parse('2026-11-25T00:00:00Z'))
    await Promise.all([sweep(env, Date.now()), sweep(env, Date.now())])
    expect(await eventsOf(account, 'device.expired')).toHaveLength(4)
    expect(
      (await account.call('GET', '/api/account/licenses/log')).body.entries.filter(
        ({ what }: { what: string }) => what === 'expired',
      ),
    ).toHaveLength(4)
  })

  describe('an expiry that the sweep has not recorded yet', () => {
    const day = '2026-11-22'
    const expired = async () => {
      vi.setSystemTime(Date.parse('2026-11-20T12:00:00Z'))
      const account = await openAccount({ licenses: 5, timeZone: 'Asia/Tokyo' })
      const { body } = await postDevice(account, { name: 'Ends', limits: until(day) })
      await postDevice(account, { name: 'Holder' })
      return {
        account: await travel(account, dayStart(day, 'Asia/Tokyo') + 30_000),
        path: `/api/devices/${body.device.id}`,
      }
    }

    test.each<[string, string[], (account: TestAccount, path: string) => Promise<Reply>]>([
      [
        'reactivated',
        ['granted 2', 'expired 1'],
        (account, path) => account.call('POST', `${path}/reactivate`),
      ],
      [
        'edited active',
        ['granted 2', 'expired 1'],
        (account, path) => account.call('PUT', path, { body: { name: 'Ends' } }),
      ],
      [
        'edited otherwise',
        ['expired 1'],
        (account, path) => account.call('PATCH', path, { body: { description: 'x' } }),
      ],
      ['deleted', ['expired 1'], (account, path) => account.call('DELETE', path)],
      [
        'revived by a time zone where it is yesterday',
        ['zone-changed 2', 'expired 1'],
        (account) => account.call('PATCH', '/api/account', { body: { timeZone: 'UTC' } }),
      ],
    ])('is recorded once, before the change, when the device is %s', async (_, entries, change) => {
      const { account, path } = await expired()
      expect((await change(account, path)).status).toBe(200)
      await sweep(env, Date.now())
      const events = await eventsOf(account, 'device.expired')
      expect(events.map(({ time, data }) => [time, JSON.parse(String(data))])).toEqual([
        [dayStart(day, 'Asia/Tokyo'), { name: 'Ends', expirationDate: day }],
      ])
      const log = (await account.call('GET', '/api/account/licenses/log')).body.entries as {
        what: string
        used: number
      }[]
      expect(log.slice(0, -2).map(({ what, used }) => `${what} ${used}`)).toEqual(entries)
    })
  })

  test('the sweep visits every cell and only accounts with a due expiry', async () => {
    vi.setSystemTime(Date.parse('2026-11-20T12:00:00Z'))
    const due = await Promise.all([0, 1].map((cell) => openAccount({ cell })))
    const later = await openAccount()
    for (const account of due)
      await postDevice(account, { name: 'Ends', limits: until('2026-11-22') })
    await postDevice(later, { name: 'Ends later', limits: until('2026-12-24') })
    vi.setSystemTime(Date.parse('2026-11-22T00:00:00Z'))
    await sweep(env, Date.now())
    const countEvents = async (db: D1Database, id: string) =>
      (
        await db
          .prepare("SELECT id FROM events WHERE account_id = ? AND type = 'device.expired'")
          .bind(id)
          .all()
      ).results.length
    expect(await countEvents(env.DB, due[0]?.id ?? '')).toBe(1)
    expect(await countEvents(env.CELL_1, due[1]?.id ?? '')).toBe(1)
    expect(await countEvents(env.DB, later.id)).toBe(0)
    const plan = await env.DB.prepare(
      'EXPLAIN QUERY PLAN SELECT id FROM accounts WHERE next_expiry <= ? ORDER BY next_expiry LIMIT 50',
    )
      .bind(1)
      .all<{ detail: string }>()
    expect(plan.results.map(({ detail }) => detail).join()).toMatch(
      /USING.*INDEX accounts_next_expiry/,
    )
  })

  test('a device that an edit expires has one event, from the edit', async () => {
    const account = await openAccount({ licenses: 2 })
    const { body } = await postDevice(account, { name: 'Cut short' })
    await account.call('PATCH', `/api/devices/${body.device.id}`, {
      body: { limits: until('2020-01-01') },
    })
    await sweep(env, Date.now())
    expect(await eventsOf(account, 'device.expired')).toHaveLength(1)
    expect(await licensesOf(account)).toEqual({ total: 2, used: 0, available: 2 })
  })

  test('a time zone where it is yesterday revives devices in one event, if all of them get a license', async () => {
    vi.setSystemTime(Date.parse('2026-11-22T06:00:00Z'))
    const account = await openAccount({ licenses: 2, timeZone: 'Asia/Tokyo' })
    const made = await Promise.all(
      [1, 2].map((n) => postDevice(account, { name: `D${n}`, limits: until('2026-11-22') })),
    )
    await postDevice(account, { name: 'Holder' })
    const refused = await account.call('PATCH', '/api/account', {
      body: { timeZone: 'Pacific/Honolulu', name: 'Moved' },
    })
    expect(refused.body).toMatchObject({ status: 409, code: 'no-license-available' })
    expect((await account.call('GET', '/api/account')).body.account).toMatchObject({
      timeZone: 'Asia/Tokyo',
      name: 'Test',
    })
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 3 } })
    expect(
      (await account.call('PATCH', '/api/account', { body: { timeZone: 'Pacific/Honolulu' } }))
        .status,
    ).toBe(200)
    expect(await licensesOf(account)).toEqual({ total: 3, used: 3, available: 0 })
    for (const { body } of made)
      expect((await account.call('GET', `/api/devices/${body.device.id}`)).body.device.state).toBe(
        'active',
      )
    const events = await eventsOf(account, 'device.reactivated')
    expect(events.map(({ data }) => JSON.parse(String(data)))).toEqual([
      { devices: 2, timeZone: 'Pacific/Honolulu' },
    ])
    expect(
      (await account.call('PATCH', '/api/account', { body: { timeZone: 'Asia/Tokyo' } })).status,
    ).toBe(200)
    expect(await licensesOf(account)).toEqual({ total: 3, used: 1, available: 2 })
  })
})
