import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import {
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../../support/accounts.ts'
import { callWithBindings, failStatements } from '../../support/bindings.ts'
import { call, callAsOperator } from '../../support/http.ts'
import { ledgerStub } from '../../support/ledger.ts'
import { daysAgo, iso } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

const KEY = { 'Idempotency-Key': 'once' }
const makeKey = (account: TestAccount, name = 'One', headers: Record<string, string> = KEY) =>
  account.call('POST', '/api/account/keys', { body: { name, scopes: ['read'] }, headers })

const rowOf = (accountId: string) =>
  env.DB.prepare('SELECT * FROM idempotency WHERE account_id = ?')
    .bind(accountId)
    .first<Record<string, string | number | null>>()

const namesOf = async (account: TestAccount): Promise<string[]> =>
  (await account.call('GET', '/api/account/keys')).body.keys.map(
    ({ name }: { name: string }) => name,
  )

test('a repeat gets the first reply byte for byte, without its secret', async () => {
  const account = await openAccount()
  const first = await makeKey(account)
  const again = await makeKey(account)
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  expect(again.text).toBe(first.text.replace(JSON.stringify(first.body.apiKey), 'null'))
  expect(again.headers.get('RateLimit')).toMatch(/^"account"/)
  expect(await namesOf(account)).toEqual(['first', 'One'])
  expect(JSON.stringify(await rowOf(account.id))).not.toContain(first.body.apiKey)
})

/** A ring of a thousand positions around a place. */
const ringAt = (longitude: number) => {
  const ring = Array.from({ length: 999 }, (_, n) => {
    const angle = (n / 999) * 2 * Math.PI
    return [longitude + Math.cos(angle) / 3, Math.sin(angle) / 3]
  })
  return [...ring, ring[0]]
}

test('a reply that may be longer than D1 allows for a value is replayed byte for byte', async () => {
  const account = await openAccount()
  const features = Array.from({ length: 20 }, (_, n) => ({
    type: 'Feature',
    geometry: { type: 'Polygon', coordinates: [ringAt(n)] },
    properties: { name: `Zone ${n}` },
  }))
  const importZones = () =>
    account.call('POST', '/api/zones.geojson', {
      body: { type: 'FeatureCollection', features },
      headers: KEY,
    })
  const first = await importZones()
  expect([first.status, first.text.length > 500_000]).toEqual([201, true])
  const stored = await rowOf(account.id)
  expect(String(stored?.body).length).toBeLessThan(first.text.length)
  const again = await importZones()
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true'])
  expect(again.text === first.text).toBe(true)
})

test('a refusal is replayed, even if the request would now succeed', async () => {
  const account = await openAccount({ licenses: 0 })
  const make = () => account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })
  const refused = await make()
  expect(refused.status).toBe(409)
  await callAsOperator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 1 } })
  const again = await make()
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([409, 'true'])
  expect(again.text).toBe(refused.text)
})

test('the same key with another body or path is 422; another account may use it', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  await makeKey(account)
  expect((await makeKey(account, 'Two')).body.code).toBe('idempotency-key-reused')
  expect(
    (await account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })).status,
  ).toBe(422)
  expect((await makeKey(other, 'Two')).status).toBe(201)
})

test('a request that is refused before processing does not use its key', async () => {
  const account = await openAccount()
  const bad = await account.call('POST', '/api/account/keys', {
    body: { name: '', scopes: ['read'] },
    headers: KEY,
  })
  expect(bad.status).toBe(400)
  const unauthorized = await call('POST', '/api/account/keys', {
    token: 'no',
    body: { name: 'One', scopes: ['read'] },
    headers: KEY,
  })
  expect(unauthorized.status).toBe(401)
  expect((await makeKey(account)).headers.has('Idempotent-Replayed')).toBe(false)
})

test.each([
  ['alerts', { alertName: 'SOSButton' }],
  ['locations', { location: { dateTime: iso(daysAgo(1)), latitude: 1, longitude: 2 } }],
])(
  'an API key without the scope neither blocks a report nor gets its reply: %s',
  async (list, body) => {
    const account = await openAccount()
    const { device } = (await account.call('POST', '/api/devices', { body: { name: 'Tern' } })).body
    const [reader, writer] = [
      await fetchTokenWithScopes(account, ['read']),
      await fetchTokenWithScopes(account, ['write']),
    ]
    const report = (token: string) =>
      account.call('POST', `/api/devices/${device.id}/${list}`, { token, body, headers: KEY })
    expect((await report(reader)).status).toBe(403)
    const first = await report(writer)
    expect([first.status, first.headers.has('Idempotent-Replayed')]).toEqual([201, false])
    expect((await report(reader)).status).toBe(403)
    expect((await report(writer)).text).toBe(first.text)
  },
)

test('of concurrent requests with one key one is processed; the others get 409 or its reply', async () => {
  const account = await openAccount()
  const replies = await Promise.all(Array.from({ length: 10 }, () => makeKey(account)))
  const processed = replies.filter(
    ({ status, headers }) => status === 201 && !headers.has('Idempotent-Replayed'),
  )
  expect(processed).toHaveLength(1)
  for (const reply of replies) {
    if (reply.status === 201) continue
    expect([reply.status, reply.body.code]).toEqual([409, 'request-in-progress'])
    expect(reply.headers.get('Retry-After')).toBe('1')
  }
  expect(await namesOf(account)).toEqual(['first', 'One'])
})

test('a reply is replayed for 24 hours; afterwards the key can be used again', async () => {
  const account = await openAccount()
  const first = await makeKey(account)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 - 5_000 })
  const token = await fetchToken(account.userName, account.apiKey)
  const late = () =>
    call('POST', '/api/account/keys', {
      token,
      body: { name: 'One', scopes: ['read'] },
      headers: KEY,
    })
  expect((await late()).headers.get('Idempotent-Replayed')).toBe('true')
  vi.setSystemTime(Date.now() + 10_000)
  const fresh = await late()
  expect([fresh.status, fresh.headers.has('Idempotent-Replayed')]).toEqual([201, false])
  expect(fresh.body.key.id).not.toBe(first.body.key.id)
})

/** Sets the key to the state after a crash between the work and storing its reply. */
const crash = (accountId: string) =>
  env.DB.prepare(
    `UPDATE idempotency SET status = NULL, headers = NULL, body = 'an attempt that crashed' WHERE account_id = ?`,
  )
    .bind(accountId)
    .run()

test('after a crash a retry waits for the lease and then creates nothing twice', async () => {
  const account = await openAccount({ licenses: 1 })
  const make = () => account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })
  const first = await make()
  await crash(account.id)
  expect((await make()).body.code).toBe('request-in-progress')

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  const retries = await Promise.all([make(), make(), make()])
  expect(
    retries.filter(({ status, headers }) => status === 201 && !headers.has('Idempotent-Replayed')),
  ).toHaveLength(1)
  const again = await make()
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true'])
  expect(again.body.device.id).toBe(first.body.device.id)
  expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(1)
})

test('after a crash a retry does not create a device again that was deleted in between', async () => {
  const account = await openAccount({ licenses: 2 })
  const make = (headers = KEY) =>
    account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers })
  const { id } = (await make()).body.device
  await crash(account.id)
  await account.call('DELETE', `/api/devices/${id}`)
  const now = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: now + 31_000 })
  for (const isReplayed of [false, true]) {
    const again = await make()
    expect([again.status, again.body.code]).toEqual([409, 'device-deleted'])
    expect(again.headers.has('Idempotent-Replayed')).toBe(isReplayed)
  }
  expect((await account.call('GET', '/api/account')).body.account.licenses.used).toBe(0)
  expect((await account.call('GET', '/api/devices')).body.devices).toEqual([])
  const other = (await make({ 'Idempotency-Key': 'another' })).body.device.id
  expect((await account.call('GET', `/api/devices/${other}`)).status).toBe(200)

  // What no retry can ask for any more is deleted.
  const remembered = () =>
    runInDurableObject(ledgerStub(account), (_, { storage }) =>
      storage.sql.exec('SELECT id FROM deleted').toArray(),
    )
  expect(await remembered()).toEqual([{ id }])
  vi.setSystemTime(now + 3 * 86_400_000)
  const token = await fetchToken(account.userName, account.apiKey)
  await call('DELETE', `/api/devices/${other}`, { token })
  expect(await remembered()).toEqual([])
})

test('after a crash a retried regeneration makes the same key, and its secret works', async () => {
  const account = await openAccount()
  const { body } = await makeKey(account, 'Old', {})
  const regenerate = () =>
    account.call('POST', `/api/account/keys/${body.key.id}/regenerate`, { body: {}, headers: KEY })
  const first = await regenerate()
  await crash(account.id)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  const again = await regenerate()
  expect(again.body.key.id).toBe(first.body.key.id)
  expect(again.body.apiKey).not.toBe(first.body.apiKey)
  await fetchToken(account.userName, again.body.apiKey)
  expect(await namesOf(account)).toEqual(['first', 'Old'])
})

test('a 5xx is not stored, and a retry continues with what was created already', async () => {
  const opening = {
    userName: `interrupted-${crypto.randomUUID().slice(0, 8)}`,
    name: 'Interrupted',
    licenses: 1,
    timeZone: 'UTC',
  }
  const open = (db: D1Database) =>
    callWithBindings({ DB: db }, 'POST', '/admin/accounts', {
      token: env.ADMIN_TOKEN ?? '',
      body: { ...opening, cell: 0 },
      headers: KEY,
    })
  const failed = await open(failStatements(env.DB, /INSERT INTO "?keys"?/i))
  expect([failed.status, failed.headers.get('Retry-After')]).toEqual([503, '5'])
  expect(failed.text).not.toMatch(/D1|SQL|INSERT/)
  const retried = await open(env.DB)
  expect(retried.status).toBe(201)
  const { account, apiKey } = retried.body
  await fetchToken(opening.userName, apiKey)
  const { results } = await env.DB.prepare(
    'SELECT account_id FROM directory WHERE user_name_key = ?',
  )
    .bind(opening.userName)
    .all()
  expect(results).toEqual([{ account_id: account.id }])
})

test('a slow attempt whose key was taken over does not overwrite the other one', async () => {
  const account = await openAccount()
  const takeOver = () =>
    env.DB.prepare(`UPDATE idempotency SET body = 'another attempt' WHERE account_id = ?`)
      .bind(account.id)
      .run()
  const slow = failStatements(env.DB, /INSERT INTO "?keys"?/i)
  const overtaken = new Proxy(slow, {
    get(target, name) {
      if (name !== 'batch') return Reflect.get(target, name)
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements)
        await takeOver()
        return results
      }
    },
  })
  const body = { name: 'One', scopes: ['read'] }
  const reply = await callWithBindings({ DB: overtaken }, 'POST', '/api/account/keys', {
    token: account.token,
    body,
    headers: KEY,
  })
  expect(reply.status).toBe(503)
  expect(await rowOf(account.id)).toMatchObject({ body: 'another attempt' })
  expect((await rowOf(account.id))?.leased_until).toBeGreaterThan(Date.now())
})
