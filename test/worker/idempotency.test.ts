import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { app } from '../../src/app.ts'
import type { Env } from '../../src/env.ts'
import { call, ORIGIN, openAccount, operator, type TestAccount, tokenFor } from './support.ts'

afterEach(() => {
  vi.useRealTimers()
})

const KEY = { 'Idempotency-Key': 'once' }
const makeKey = (account: TestAccount, name = 'One', headers: Record<string, string> = KEY) =>
  account.call('POST', '/api/account/keys', { body: { name, scopes: ['read'] }, headers })

const rowOf = (accountId: string) =>
  env.DB.prepare('SELECT * FROM idempotency WHERE account_id = ?').bind(accountId).first<Record<string, string | number | null>>()

const namesOf = async (account: TestAccount): Promise<string[]> =>
  (await account.call('GET', '/api/account/keys')).body.keys.map(({ name }: { name: string }) => name)

test('a repeat gets the first answer byte for byte, and a secret only once', async () => {
  const account = await openAccount()
  const first = await makeKey(account)
  const again = await makeKey(account)
  expect(again.headers.get('Idempotent-Replayed')).toBe('true')
  expect(again.text).toBe(first.text.replace(JSON.stringify(first.body.apiKey), 'null'))
  expect(again.headers.get('RateLimit')).toMatch(/^"account"/)
  expect(await namesOf(account)).toEqual(['first', 'One'])
  expect(JSON.stringify(await rowOf(account.id))).not.toContain(first.body.apiKey)
})

test('a refusal is an answer too: a repeat gets it, though by then it would succeed', async () => {
  const account = await openAccount({ licenses: 0 })
  const make = () => account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })
  const refused = await make()
  expect(refused.status).toBe(409)
  await operator('PATCH', `/admin/accounts/${account.id}`, { body: { licenses: 1 } })
  const again = await make()
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([409, 'true'])
  expect(again.text).toBe(refused.text)
})

test('the same key with another body, or on another path, is 422; another account may use it', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  await makeKey(account)
  expect((await makeKey(account, 'Two')).body.code).toBe('idempotency-key-reused')
  expect((await account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })).status).toBe(422)
  expect((await makeKey(other, 'Two')).status).toBe(201)
})

test('a request that is refused before it is carried out does not use its key up', async () => {
  const account = await openAccount()
  const bad = await account.call('POST', '/api/account/keys', { body: { name: '', scopes: ['read'] }, headers: KEY })
  expect(bad.status).toBe(400)
  const strange = await call('POST', '/api/account/keys', { token: 'no', body: { name: 'One', scopes: ['read'] }, headers: KEY })
  expect(strange.status).toBe(401)
  expect((await makeKey(account)).headers.has('Idempotent-Replayed')).toBe(false)
})

test('rivals with one key: one is carried out, the others are told to wait or get its answer', async () => {
  const account = await openAccount()
  const replies = await Promise.all(Array.from({ length: 10 }, () => makeKey(account)))
  const carriedOut = replies.filter(({ status, headers }) => status === 201 && !headers.has('Idempotent-Replayed'))
  expect(carriedOut).toHaveLength(1)
  for (const reply of replies) {
    if (reply.status === 201) continue
    expect([reply.status, reply.body.code]).toEqual([409, 'request-in-progress'])
    expect(reply.headers.get('Retry-After')).toBe('1')
  }
  expect(await namesOf(account)).toEqual(['first', 'One'])
})

test('an answer is kept for 24 hours, and then the key is as good as new', async () => {
  const account = await openAccount()
  const first = await makeKey(account)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 86_400_000 - 5_000 })
  const token = await tokenFor(account.userName, account.apiKey)
  const late = () => call('POST', '/api/account/keys', { token, body: { name: 'One', scopes: ['read'] }, headers: KEY })
  expect((await late()).headers.get('Idempotent-Replayed')).toBe('true')
  vi.setSystemTime(Date.now() + 10_000)
  const fresh = await late()
  expect([fresh.status, fresh.headers.has('Idempotent-Replayed')]).toEqual([201, false])
  expect(fresh.body.key.id).not.toBe(first.body.key.id)
})

/** Leaves the key as a Worker does that dies after its work and before its answer is kept. */
const crash = (accountId: string) =>
  env.DB.prepare(`UPDATE idempotency SET status = NULL, headers = NULL, body = 'a try that died' WHERE account_id = ?`)
    .bind(accountId)
    .run()

test('after a crash the key waits for the lease, and the retry then makes nothing twice', async () => {
  const account = await openAccount({ licenses: 1 })
  const make = () => account.call('POST', '/api/devices', { body: { name: 'Tern' }, headers: KEY })
  const first = await make()
  await crash(account.id)
  expect((await make()).body.code).toBe('request-in-progress')

  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  const rivals = await Promise.all([make(), make(), make()])
  expect(rivals.filter(({ status, headers }) => status === 201 && !headers.has('Idempotent-Replayed'))).toHaveLength(1)
  const again = await make()
  expect([again.status, again.headers.get('Idempotent-Replayed')]).toEqual([201, 'true'])
  expect(again.body.device.id).toBe(first.body.device.id)
  expect((await account.call('GET', '/api/devices')).body.devices).toHaveLength(1)
})

test('after a crash a regenerated key is one key still, and its secret works', async () => {
  const account = await openAccount()
  const { body } = await makeKey(account, 'Old', {})
  const regenerate = () => account.call('POST', `/api/account/keys/${body.key.id}/regenerate`, { body: {}, headers: KEY })
  const first = await regenerate()
  await crash(account.id)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 31_000 })
  const again = await regenerate()
  expect(again.body.key.id).toBe(first.body.key.id)
  expect(again.body.apiKey).not.toBe(first.body.apiKey)
  await tokenFor(account.userName, again.body.apiKey)
  expect(await namesOf(account)).toEqual(['first', 'Old'])
})

/** The same database, but that the statements named fail. */
const failing = (db: D1Database, broken: RegExp): D1Database =>
  new Proxy(db, {
    get(target, name) {
      if (name === 'prepare') {
        return (sql: string) => {
          if (broken.test(sql)) throw new Error('D1_ERROR: Network connection lost.')
          return target.prepare(sql)
        }
      }
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })

const ask = async (bindings: Env, method: string, path: string, token: string, body: unknown) => {
  const context = createExecutionContext()
  const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json', ...KEY }
  const response = await app.request(`${ORIGIN}${path}`, { method, headers, body: JSON.stringify(body) }, bindings, context)
  await waitOnExecutionContext(context)
  return response
}

test('a 5xx half-way is not kept, and its retry carries on with what was made already', async () => {
  const opening = { userName: `half-way-${crypto.randomUUID().slice(0, 8)}`, name: 'Half', licenses: 1, timeZone: 'UTC' }
  const open = (db: D1Database) => ask({ ...env, DB: db }, 'POST', '/admin/accounts', env.ADMIN_TOKEN ?? '', { ...opening, cell: 0 })
  const broken = await open(failing(env.DB, /INSERT INTO keys/))
  expect([broken.status, broken.headers.get('Retry-After')]).toEqual([503, '5'])
  expect(await broken.text()).not.toMatch(/D1|SQL|INSERT/)
  const mended = await open(env.DB)
  expect(mended.status).toBe(201)
  const { account, apiKey } = await mended.json<{ account: { id: string }; apiKey: string }>()
  await tokenFor(opening.userName, apiKey)
  const { results } = await env.DB.prepare('SELECT account_id FROM directory WHERE user_name_key = ?').bind(opening.userName).all()
  expect(results).toEqual([{ account_id: account.id }])
})

test('a slow try whose key was taken over does not undo what the other one kept', async () => {
  const account = await openAccount()
  const slow = failing(env.DB, /INSERT INTO keys/)
  const original = slow.prepare.bind(slow)
  const interfering = new Proxy(env.DB, {
    get(target, name) {
      if (name === 'batch') {
        return async (statements: D1PreparedStatement[]) => {
          const results = await target.batch(statements)
          await env.DB.prepare(`UPDATE idempotency SET body = 'another try', status = NULL WHERE account_id = ?`).bind(account.id).run()
          return results
        }
      }
      if (name === 'prepare') return original
      const member = Reflect.get(target, name)
      return typeof member === 'function' ? member.bind(target) : member
    },
  })
  const reply = await ask({ ...env, DB: interfering }, 'POST', '/api/account/keys', account.token, { name: 'One', scopes: ['read'] })
  expect(reply.status).toBe(503)
  expect(await rowOf(account.id)).toMatchObject({ body: 'another try' })
  expect((await rowOf(account.id))?.leased_until).toBeGreaterThan(Date.now())
})
