import { runDurableObjectAlarm } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { openCell } from '../../../src/db/open.ts'
import { addUsage } from '../../../src/db/queries/usage.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { callerWith, fetchToken, openAccount, type TestAccount } from '../../support/accounts.ts'
import { raiseAlert } from '../../support/alerts/alerts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { DAY_MS, eventually } from '../../support/time.ts'
import { createUser } from '../../support/users.ts'

const at = (text: string): number => Date.parse(text)

beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: at('2027-03-10T12:00:00Z') }))
afterEach(() => {
  vi.useRealTimers()
  vi.restoreAllMocks()
})

/** Sets the clock, and gets a new token: tokens last an hour. */
const travel = async (account: TestAccount, time: string): Promise<TestAccount> => {
  vi.setSystemTime(at(time))
  const token = await fetchToken(account.userName, account.apiKey)
  return { ...account, token, ...callerWith(token) }
}

const usageOf = async (account: TestAccount, query = '') => {
  const reply = await account.call('GET', `/api/account/usage${query}`)
  expect(reply.status, reply.text).toBe(200)
  return reply.body
}
/** Accounts of other tests may have closed the month already. */
const closeMonths = async (bindings = env) => {
  for (const db of [env.DB, (env as unknown as { CELL_1: D1Database }).CELL_1])
    await db.prepare(`DELETE FROM sweep_positions WHERE part LIKE 'usage-months%'`).run()
  await sweep(bindings, Date.now())
}
const MARCH = '?from=2027-03-01&to=2027-03-31'
const report = async (account: TestAccount, deviceId: string, count: number) => {
  const locations = Array.from({ length: count }, (_, index) => ({
    dateTime: new Date(Date.now() - index * 1000).toISOString(),
    latitude: 38.7,
    longitude: -9.1,
  }))
  const path = `/api/devices/${deviceId}/locations`
  const { status } = await account.call('POST', path, { body: { locations } })
  expect(status).toBe(201)
}

test('an account reads its own usage, by default of the month so far', async () => {
  let account = await openAccount({ timeZone: 'Asia/Kolkata' })
  const first = await createDevice(account, 'One')
  await createDevice(account, 'Two')
  await report(account, first, 3)
  // Half past eleven in the evening of the 12th in Kolkata.
  account = await travel(account, '2027-03-12T18:00:00Z')
  await account.call('DELETE', `/api/devices/${first}`)
  account = await travel(account, '2027-03-14T12:00:00Z')
  expect(await usageOf(account)).toMatchObject({
    success: true,
    from: '2027-03-01',
    to: '2027-03-14',
    timeZone: 'Asia/Kolkata',
    closed: false,
    licenseDays: 2 + 2 + 2 + 1 + 1,
    locations: 3,
    messages: { email: 0, sms: 0, smsSegments: 0, push: 0, voice: 0 },
    providers: [],
    requests: expect.any(Number),
    storageBytes: expect.any(Number),
    exact: ['licenseDays', 'messages'],
  })
  expect(await usageOf(account, '?from=2027-03-12&to=2027-03-13')).toMatchObject({ licenseDays: 3 })
  // Days that have not come are not counted.
  expect(await usageOf(account, MARCH)).toMatchObject({ licenseDays: 8, to: '2027-03-31' })
})

test('usage as CSV has the same figures', async () => {
  const account = await openAccount()
  await createDevice(account, 'One')
  const named = await account.call('GET', '/api/account/usage?format=csv')
  expect(named.headers.get('Content-Type')).toMatch(/^text\/csv/)
  const [header = '', line = ''] = named.text.split('\r\n')
  const row = Object.fromEntries(header.split(',').map((name, i) => [name, line.split(',')[i]]))
  expect(row).toMatchObject({ licenseDays: '1', smsSegments: '0', exact: 'licenseDays messages' })
  const accepted = await account.call('GET', '/api/account/usage', {
    headers: { Accept: 'text/csv' },
  })
  expect(accepted.text.split('\r\n')[0]).toBe(header)
})

test.each([
  '?from=2027-03-11&to=2027-03-10',
  '?from=2025-01-01&to=2027-03-10',
  '?from=march',
  '?format=pdf',
])('%s is refused', async (query) => {
  const account = await openAccount()
  expect((await account.call('GET', `/api/account/usage${query}`)).status).toBe(400)
})

test('messages are counted once a provider accepts them, by provider and segments', async () => {
  const account = await openAccount()
  await createUser(account, { email: 'ana@example.com', phone: '+351910000001' })
  const id = await createDevice(account, { min: '+881632000000' })
  await raiseAlert(account, id)
  const body = { command: 'a'.repeat(400), sms: true }
  await account.call('POST', `/api/devices/${id}/sendCommand`, { body })
  await raiseAlert(account, id, { test: true })
  await eventually(async () => {
    await runDurableObjectAlarm(ledgerStub(account))
    const { messages } = await usageOf(account)
    expect([messages.email, messages.sms]).toEqual([1, 1])
  })
  const { messages, providers } = await usageOf(account)
  // The test alert was not counted.
  expect(messages).toEqual({ email: 1, sms: 1, smsSegments: 3, push: 0, voice: 0 })
  expect(providers).toEqual([
    { channel: 'Email', provider: 'outbox', messages: 1, segments: 1 },
    { channel: 'SMS', provider: 'outbox', messages: 1, segments: 3 },
  ])
  const csv = await account.call('GET', '/api/account/usage?format=csv')
  expect(csv.text).toContain(',Email outbox 1 1; SMS outbox 1 3,')
})

describe('a closed month', () => {
  const closeMarch = async (account: TestAccount) => {
    const later = await travel(account, '2027-04-03T13:00:00Z')
    await closeMonths()
    return later
  }

  test('never changes, whatever is counted later and whichever zone the account has', async () => {
    let account = await openAccount()
    const id = await createDevice(account, 'One')
    await report(account, id, 5)
    account = await travel(account, '2027-04-03T11:00:00Z')
    await sweep(env, Date.now())
    expect(await usageOf(account, MARCH)).toMatchObject({ closed: false })
    account = await closeMarch(account)
    const closed = await usageOf(account, MARCH)
    expect(closed).toMatchObject({ closed: true, licenseDays: 22, locations: 5, timeZone: 'UTC' })
    const day = { accountId: account.id, day: '2027-03-20', storageBytes: 0 }
    await addUsage(openCell(env, 0), { ...day, locations: 1000, requests: 1000 })
    await account.call('PATCH', '/api/account', { body: { timeZone: 'Pacific/Kiritimati' } })
    await account.call('DELETE', `/api/devices/${id}`)
    await closeMonths()
    expect(await usageOf(account, MARCH)).toEqual(closed)
    const both = await usageOf(account, '?from=2027-03-01&to=2027-04-04')
    expect(both).toMatchObject({ closed: false, licenseDays: 22 + 4 })
    const { entries } = (await account.call('GET', '/api/account/audit?action=usageMonth')).body
    expect(entries).toMatchObject([
      { action: 'usageMonth.closed', resource: { id: '2027-03' }, actor: { type: 'system' } },
    ])
  })

  test('is stored for every account, and again tried where a ledger failed', async () => {
    const accounts = [await openAccount(), await openAccount({ cell: 1 })]
    const failing = accounts[0] as TestAccount
    vi.setSystemTime(at('2027-04-03T13:00:00Z'))
    const LEDGER = new Proxy(env.LEDGER, {
      get: (target, name) => {
        if (name !== 'idFromName') return Reflect.get(target, name).bind(target)
        return (id: string) => {
          if (id === failing.id) throw new Error('broken by the test')
          return target.idFromName(id)
        }
      },
    })
    const stored = async () => {
      const ids: string[] = []
      for (const db of [env.DB, (env as unknown as { CELL_1: D1Database }).CELL_1]) {
        const found = await db.prepare(`SELECT account_id FROM usage_months`).all()
        ids.push(...found.results.map((row) => String(row.account_id)))
      }
      return accounts.map(({ id }) => ids.includes(id))
    }
    await closeMonths({ ...env, LEDGER })
    expect(await stored()).toEqual([false, true])
    await sweep(env, Date.now())
    expect(await stored()).toEqual([true, true])
  })

  test('of an erased account is still listed, with the days until then', async () => {
    const account = await openAccount()
    await createDevice(account, 'One')
    vi.setSystemTime(at('2027-03-12T12:00:00Z'))
    const path = `/admin/accounts/${account.id}`
    const erased = await callAsOperator('DELETE', `${path}?now=true`, {
      body: { userName: account.userName },
    })
    expect(erased.status, erased.text).toBe(200)
    await sweep(env, Date.now())
    vi.setSystemTime(Date.now() + DAY_MS)
    await sweep(env, Date.now())
    expect((await callAsOperator('GET', path)).status).toBe(404)
    const { body } = await callAsOperator('GET', '/admin/usage?month=2027-03')
    const listed = body.accounts.find((one: { accountId: string }) => one.accountId === account.id)
    expect(listed).toMatchObject({ userName: null, name: null, closed: true, licenseDays: 3 })
  })
})

describe('the operator', () => {
  const listMonth = (query: string) => callAsOperator('GET', `/admin/usage?month=${query}`)

  test('reads the usage of an account, also of a deleted one', async () => {
    const account = await openAccount()
    await createDevice(account, 'One')
    const path = `/admin/accounts/${account.id}`
    await callAsOperator('DELETE', path)
    vi.setSystemTime(at('2027-03-20T12:00:00Z'))
    const { status, body } = await callAsOperator('GET', `${path}/usage${MARCH}`)
    // Licenses of a deleted account are not charged.
    expect([status, body.licenseDays]).toEqual([200, 1])
    const csv = await callAsOperator('GET', `${path}/usage?format=csv`)
    expect(csv.text).toMatch(/^from,to,/)
    expect((await callAsOperator('GET', '/admin/accounts/acc_none/usage')).status).toBe(404)
  })

  test('reads a month of all accounts in all cells, in pages', async () => {
    const accounts = [await openAccount(), await openAccount({ cell: 1 }), await openAccount()]
    const seen: string[] = []
    let cursor: string | null = ''
    while (cursor !== null) {
      const { body } = await listMonth(`2027-03&limit=2${cursor && `&cursor=${cursor}`}`)
      expect(body.accounts.length).toBeLessThanOrEqual(2)
      seen.push(...body.accounts.map(({ accountId }: { accountId: string }) => accountId))
      cursor = body.nextCursor
    }
    expect(seen).toEqual([...new Set(seen)].sort())
    expect(seen).toEqual(expect.arrayContaining(accounts.map(({ id }) => id)))
    const { body } = await listMonth('2027-02&limit=1000')
    const early = body.accounts.map(({ accountId }: { accountId: string }) => accountId)
    expect(early).not.toContain(accounts[0]?.id)
    for (const query of ['2027-13', '', '2027-03&format=xml'])
      expect((await listMonth(query)).status, query).toBe(400)
  })

  test('gets meter events of closed months alone, the same every time', async () => {
    const account = await openAccount({ timeZone: 'America/New_York' })
    await createDevice(account, 'One')
    const open = await listMonth('2027-03&format=stripe')
    expect([open.status, open.body.code]).toEqual([409, 'usage-month-open'])
    vi.setSystemTime(at('2027-04-03T13:00:00Z'))
    await closeMonths()
    const linesOf = async (format: string) => {
      const { status, text, headers } = await listMonth(`2027-03&format=${format}`)
      expect([status, headers.get('Content-Type')]).toEqual([200, 'application/x-ndjson'])
      return text
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line))
    }
    const stripe = await linesOf('stripe')
    const own = stripe.filter(({ payload }) => payload.stripe_customer_id === account.id)
    expect(own.find(({ event_name }) => event_name === 'license_days')).toEqual({
      event_name: 'license_days',
      identifier: expect.stringMatching(/^[0-9a-f]{64}$/),
      timestamp: '2027-04-01T03:59:59.000Z',
      payload: { stripe_customer_id: account.id, value: '22' },
    })
    expect(new Set(stripe.map(({ identifier }) => identifier)).size).toBe(stripe.length)
    expect(await linesOf('stripe')).toEqual(stripe)
    const lago = await linesOf('lago')
    expect(lago.map(({ transaction_id }) => transaction_id)).toEqual(
      stripe.map(({ identifier }) => identifier),
    )
    expect(lago.find((event) => event.external_subscription_id === account.id)).toMatchObject({
      code: 'license_days',
      timestamp: at('2027-04-01T03:59:59Z') / 1000,
      properties: { value: 22 },
    })
    const csv = await listMonth('2027-03&format=csv')
    expect(csv.text).toContain(`${account.id},${account.userName},Test,2027-03-01,2027-03-31`)
  })
})

describe('counts of the cell', () => {
  const daysOf = async (account: TestAccount) => {
    const { results } = await env.DB.prepare(
      'SELECT day, locations, requests FROM usage_days WHERE account_id = ? ORDER BY day',
    )
      .bind(account.id)
      .all()
    return results
  }

  test('of a day are kept when the next one begins, with what comes late', async () => {
    const account = await openAccount()
    const add = (day: string, locations: number, requests: number) =>
      addUsage(openCell(env, 0), {
        accountId: account.id,
        day,
        locations,
        requests,
        storageBytes: 0,
      })
    await add('2027-03-10', 5, 2)
    await add('2027-03-10', 5, 2)
    await add('2027-03-11', 1, 1)
    await add('2027-03-10', 7, 3)
    await add('2027-03-11', 1, 1)
    await add('2027-03-13', 1, 1)
    const before = await daysOf(account)
    expect(before.filter(({ day }) => String(day) > '2027-03-09')).toMatchObject([
      { day: '2027-03-10', locations: 17, requests: 7 },
      { day: '2027-03-11', locations: 2, requests: 2 },
    ])
  })

  test('have the locations before midnight, though the next report comes after it', async () => {
    vi.setSystemTime(at('2027-03-10T23:59:50Z'))
    const account = await openAccount()
    const id = await createDevice(account, 'One')
    await report(account, id, 2)
    vi.setSystemTime(at('2027-03-10T23:59:55Z'))
    await report(account, id, 3)
    vi.setSystemTime(at('2027-03-11T00:00:10Z'))
    await report(account, id, 1)
    await eventually(async () =>
      expect(await daysOf(account)).toMatchObject([{ day: '2027-03-10', locations: 5 }]),
    )
    expect(await usageOf(account)).toMatchObject({ locations: 6 })
  })

  test('of requests need no row each: many are written with one, a minute apart', async () => {
    const account = await openAccount()
    const written: string[] = []
    const DB = watchStatements(env.DB, (sql) => {
      if (/insert into "account_usage"/i.test(sql)) written.push(sql)
    })
    const waits = vi.spyOn(scheduler, 'wait').mockResolvedValue()
    const read = () => callWithBindings({ DB }, 'GET', '/api/groups', { token: account.token })
    for (let count = 0; count < 20; count++) await read()
    expect(written.length).toBeLessThanOrEqual(1)
    vi.setSystemTime(Date.now() + 61_000)
    await read()
    await eventually(() => expect(written.length).toBeLessThanOrEqual(2))
    waits.mockRestore()
    const { requests } = await usageOf(account)
    expect(requests).toBeGreaterThanOrEqual(21)
    expect(requests).toBeLessThan(30)
  })
})
