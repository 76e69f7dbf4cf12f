import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { postDevice } from '../../support/devices.ts'
import { callAsOperator, type Reply } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { eventually } from '../../support/time.ts'

const licensesOf = async (account: TestAccount) =>
  (await account.call('GET', '/api/account')).body.account.licenses
const until = (expirationDate: string) => ({ expires: true, expirationDate })
const statuses = (replies: Reply[]) => replies.map(({ status }) => status)
const count = (replies: Reply[], status: number) =>
  statuses(replies).filter((given) => given === status).length
const eventsOf = async (account: TestAccount, type: string) => {
  const { results } = await env.DB.prepare(
    'SELECT * FROM events WHERE account_id = ? AND type = ? ORDER BY sequence',
  )
    .bind(account.id, type)
    .all()
  return results
}

/** No grant may leave more licenses in use than the total. */
const checkLog = async (account: TestAccount) => {
  const { body } = await account.call('GET', '/api/account/licenses/log')
  for (const { what, used, total } of body.entries)
    if (what === 'granted') expect(used).toBeLessThanOrEqual(total)
}

describe('concurrent requests', () => {
  test('of a hundred concurrent creates with ten licenses, ten succeed', async () => {
    const account = await openAccount({ licenses: 10 })
    const replies = await Promise.all(
      Array.from({ length: 100 }, (_, n) => postDevice(account, { name: `Rival ${n}` })),
    )
    expect(count(replies, 201)).toBe(10)
    expect(count(replies, 409)).toBe(90)
    expect(replies.find(({ status }) => status === 409)?.body).toMatchObject({
      code: 'no-license-available',
      availableAt: null,
    })
    expect(await licensesOf(account)).toEqual({ total: 10, used: 10, available: 0 })
    await checkLog(account)
  })

  test('creates, edits and reactivations together get exactly the free licenses, in twenty rounds', async () => {
    for (let round = 0; round < 20; round++) {
      const account = await openAccount({ licenses: 10 })
      const expired = await Promise.all(
        Array.from({ length: 24 }, (_, n) =>
          postDevice(account, { name: `Old ${n}`, limits: until('2020-01-01') }),
        ),
      )
      const ids: string[] = expired.map(({ body }) => body.device.id)
      const roads = ids.map((id, n) => {
        const path = `/api/devices/${id}`
        if (n % 4 === 0) return account.call('POST', `${path}/reactivate`)
        if (n % 4 === 1) return account.call('PUT', path, { body: { name: `Put ${n}` } })
        if (n % 4 === 2)
          return account.call('PATCH', path, { body: { limits: { expirationDate: '2099-01-01' } } })
        return account.call('PATCH', path, {
          body: [{ op: 'replace', path: '/limits/expires', value: false }],
        })
      })
      const news = Array.from({ length: 12 }, (_, n) => postDevice(account, { name: `New ${n}` }))
      const replies = await Promise.all([...roads, ...news])
      expect(replies.filter(({ status }) => status === 200 || status === 201)).toHaveLength(10)
      expect(count(replies, 409)).toBe(26)
      expect(await licensesOf(account)).toEqual({ total: 10, used: 10, available: 0 })
      await checkLog(account)
    }
  })

  test('an object evicted during concurrent creates loses no grant and grants none twice', async () => {
    const account = await openAccount({ licenses: 10 })
    const storm = Array.from({ length: 40 }, (_, n) => postDevice(account, { name: `Rival ${n}` }))
    await evictDurableObject(ledgerStub(account)).catch(() => {})
    const won = (await Promise.all(storm)).filter(({ status }) => status === 201)
    await evictDurableObject(ledgerStub(account)).catch(() => {})
    const { used } = await licensesOf(account)
    expect(used).toBeLessThanOrEqual(10)
    expect(used).toBeGreaterThanOrEqual(won.length)
    const listed = (await account.call('GET', '/api/devices')).body.devices.map(
      ({ id }: { id: string }) => id,
    )
    for (const { body } of won) expect(listed).toContain(body.device.id)
    expect(listed).toHaveLength(used)
  })
})

describe('without a free license', () => {
  const full = async () => {
    const account = await openAccount({ licenses: 1 })
    const { body } = await postDevice(account, {
      name: 'Old',
      tags: { kept: 'yes' },
      limits: until('2020-01-01'),
    })
    await postDevice(account, { name: 'Holder' })
    return { account, path: `/api/devices/${body.device.id}` }
  }

  test.each<[string, (account: TestAccount, path: string) => Promise<Reply>]>([
    ['create', (account) => postDevice(account, { name: 'New' })],
    ['reactivate', (account, path) => account.call('POST', `${path}/reactivate`)],
    [
      'a later date by PUT',
      (account, path) =>
        account.call('PUT', path, { body: { name: 'Old', limits: until('2099-01-01') } }),
    ],
    [
      'the flag turned off by PUT',
      (account, path) => account.call('PUT', path, { body: { name: 'Old' } }),
    ],
    [
      'a later date by merge patch',
      (account, path) =>
        account.call('PATCH', path, {
          body: { name: 'Changed', limits: { expirationDate: '2099-01-01' } },
        }),
    ],
    [
      'the flag turned off by JSON Patch',
      (account, path) =>
        account.call('PATCH', path, {
          body: [{ op: 'replace', path: '/limits/expires', value: false }],
        }),
    ],
  ])('%s is refused and changes nothing but the license log', async (_, change) => {
    const { account, path } = await full()
    const before = await account.call('GET', path)
    const listed = await account.call('GET', '/api/devices')
    const eventCount = await env.DB.prepare('SELECT count(*) AS n FROM events WHERE account_id = ?')
      .bind(account.id)
      .first()
    const reply = await change(account, path)
    expect(reply.status).toBe(409)
    expect(reply.body).toMatchObject({ code: 'no-license-available', availableAt: null })
    const after = await account.call('GET', path)
    expect(after.text).toBe(before.text)
    expect(after.headers.get('ETag')).toBe(before.headers.get('ETag'))
    expect((await account.call('GET', '/api/devices')).text).toBe(listed.text)
    expect(
      await env.DB.prepare('SELECT count(*) AS n FROM events WHERE account_id = ?')
        .bind(account.id)
        .first(),
    ).toEqual(eventCount)
    expect(await licensesOf(account)).toEqual({ total: 1, used: 1, available: 0 })
    expect(
      (await account.call('GET', '/api/account/licenses/log?limit=1')).body.entries[0],
    ).toMatchObject({
      what: 'refused',
      used: 1,
      total: 1,
    })
  })

  test('a refusal says when a license becomes free, even while more are in use than the total', async () => {
    const account = await openAccount({ licenses: 4, timeZone: 'America/New_York' })
    for (const date of ['2099-03-01', '2099-02-01', '2099-03-01'])
      await postDevice(account, { name: date, limits: until(date) })
    await postDevice(account, { name: 'No end' })
    const first = await postDevice(account, { name: 'One more' })
    expect(first.body.availableAt).toBe('2099-02-01T05:00:00.000Z')
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 2 } })
    const second = await postDevice(account, { name: 'One more' })
    expect(second.body.availableAt).toBe('2099-03-01T05:00:00.000Z')
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 1 } })
    expect((await postDevice(account, { name: 'One more' })).body.availableAt).toBeNull()
  })

  test('a total lowered below the number in use expires nothing and grants nothing until enough are free', async () => {
    const account = await openAccount({ licenses: 3 })
    const made = await Promise.all([1, 2, 3].map((n) => postDevice(account, { name: `D${n}` })))
    await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 1 } })
    expect(await licensesOf(account)).toEqual({ total: 1, used: 3, available: 0 })
    for (const { body } of made.slice(0, 2)) {
      expect((await postDevice(account, { name: 'No' })).status).toBe(409)
      await account.call('DELETE', `/api/devices/${body.device.id}`)
    }
    expect((await postDevice(account, { name: 'No' })).status).toBe(409)
    await account.call('DELETE', `/api/devices/${made[2]?.body.device.id}`)
    expect((await postDevice(account, { name: 'Yes' })).status).toBe(201)
  })
})

test('reactivate returns the device, with or without an expiration date, and refuses a past date', async () => {
  const account = await openAccount({ licenses: 1 })
  const { body } = await postDevice(account, { name: 'Old', limits: until('2020-01-01') })
  const path = `/api/devices/${body.device.id}/reactivate`
  const reached = await account.call('POST', path, { body: { expirationDate: '2021-01-01' } })
  expect(reached.status).toBe(400)
  expect(reached.body.errors[0].pointer).toBe('/expirationDate')
  expect(
    (await account.call('POST', path, { body: { expirationDate: '2099-01-01' } })).body.device,
  ).toMatchObject({
    state: 'active',
    limits: until('2099-01-01'),
  })
  expect(
    (await account.call('POST', path, { body: { expirationDate: null } })).body.device,
  ).toMatchObject({
    state: 'active',
    expires: null,
  })
  expect((await account.call('POST', path)).body.device).toMatchObject({
    state: 'active',
    limits: { expires: false, expirationDate: null },
  })
  expect(await eventsOf(account, 'device.reactivated')).toHaveLength(1)
})

describe('while the cell fails', () => {
  const breakDatabase = (
    account: TestAccount,
    batch: (statements: unknown[]) => Promise<unknown>,
  ) =>
    runInDurableObject(ledgerStub(account), (ledger) => {
      const statement = { bind: () => statement }
      const DB = { prepare: () => statement, batch }
      Object.defineProperty(ledger, 'env', {
        value: { ...(ledger as unknown as { env: typeof env }).env, DB },
        configurable: true,
      })
    })

  test('concurrent requests share one wait for it, and later requests do not wait', async () => {
    const account = await openAccount({ licenses: 21 })
    const first = Promise.withResolvers<never>()
    let batches = 0
    await breakDatabase(account, () => (batches++ === 0 ? first.promise : new Promise(() => {})))
    const storm = Array.from({ length: 20 }, (_, n) => postDevice(account, { name: `D${n}` }))
    await eventually(async () => {
      const decided = await runInDurableObject(ledgerStub(account), (_, state) =>
        state.storage.sql.exec('SELECT 1 FROM devices').toArray(),
      )
      expect(decided).toHaveLength(20)
    })
    first.reject(new Error('D1_ERROR: failed by the test'))
    expect(count(await Promise.all(storm), 201)).toBe(20)
    expect((await postDevice(account, { name: 'While it hangs' })).status).toBe(201)
    await evictDurableObject(ledgerStub(account))
    await runDurableObjectAlarm(ledgerStub(account))
    expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(21)
  })

  test('the first request after its recovery writes the outbox, even without an alarm', async () => {
    const account = await openAccount({ licenses: 2 })
    await runInDurableObject(ledgerStub(account), (_, { storage }) => {
      storage.setAlarm = async () => {}
    })
    let fails = true
    await breakDatabase(account, async (statements) => {
      if (fails) throw new Error('D1_ERROR: failed by the test')
      return statements.map(() => ({ results: [] }))
    })
    expect((await postDevice(account, { name: 'One' })).status).toBe(201)
    fails = false
    expect((await postDevice(account, { name: 'Two' })).status).toBe(201)
    await eventually(async () => {
      const left = await runInDurableObject(ledgerStub(account), (_, state) =>
        state.storage.sql.exec('SELECT 1 FROM outbox').toArray(),
      )
      expect(left).toEqual([])
    })
  })

  test('decisions are still made, and their effects arrive later, once', async () => {
    const account = await openAccount({ licenses: 2 })
    await breakDatabase(account, () => Promise.reject(new Error('D1_ERROR: failed by the test')))
    const replies = await Promise.all([1, 2, 3].map((n) => postDevice(account, { name: `D${n}` })))
    expect(count(replies, 201)).toBe(2)
    expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
    await evictDurableObject(ledgerStub(account))
    await runDurableObjectAlarm(ledgerStub(account))
    await runDurableObjectAlarm(ledgerStub(account))
    expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(2)
    expect(await eventsOf(account, 'device.created')).toHaveLength(2)
    const { results } = await env.DB.prepare(
      'SELECT sequence FROM events WHERE account_id = ? ORDER BY sequence',
    )
      .bind(account.id)
      .all()
    expect(results.map(({ sequence }) => sequence)).toEqual(results.map((_, index) => index + 1))
  })
})

test('a ledger that was never opened refuses every call and stays unopened', async () => {
  const stub = env.LEDGER.get(env.LEDGER.idFromName('acc_nobody')) as unknown as {
    readAccount: () => Promise<unknown>
    createDevice: (...args: unknown[]) => Promise<unknown>
  }
  expect(await stub.readAccount()).toEqual({ ok: false, refusal: 'account-not-found' })
  const record = {
    name: 'x',
    description: '',
    min: '',
    identifier: null,
    model: '',
    tags: {},
    limits: { expires: false, expirationDate: null, dailyEmailLimit: 1, dailySmsLimit: 1 },
  }
  expect(
    await stub.createDevice('dev_x', record, { userId: null, groupId: null, cap: null }),
  ).toEqual({
    ok: false,
    refusal: 'account-not-found',
  })
})
