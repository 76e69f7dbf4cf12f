import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { parseApiKey } from '../../../src/domain/account/apiKey.ts'
import { NEWEST_VERSION } from '../../../src/http/version/versions.ts'
import {
  fetchToken,
  fetchTokenWithScopes,
  openAccount,
  type TestAccount,
} from '../../support/accounts.ts'
import { callWithBindings, watchStatements } from '../../support/bindings.ts'
import { call, type Reply } from '../../support/http.ts'
import { createBoundUser } from '../../support/users.ts'

afterEach(() => {
  vi.useRealTimers()
})

const KEYS = '/api/account/keys'
const make = async (account: TestAccount, body: object = {}): Promise<Reply['body']> => {
  const reply = await account.call('POST', KEYS, {
    body: { name: 'Dispatch', scopes: ['read'], ...body },
  })
  expect(reply.status).toBe(201)
  return reply.body
}
const list = async (account: TestAccount, query = ''): Promise<Reply['body']> =>
  (await account.call('GET', KEYS + query)).body
const signIn = async (account: TestAccount, apiKey: string): Promise<number> =>
  (await call('POST', '/api/Auth/Token', { body: { userName: account.userName, apiKey } })).status
const later = (milliseconds: number) =>
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + milliseconds })

test('a new key is shown once, listed without its secret, and gets a token with its scopes', async () => {
  const account = await openAccount()
  const { key, apiKey } = await make(account, {
    name: ' Dispatch ',
    scopes: ['write', 'ingest', 'write'],
  })
  expect(key).toEqual({
    id: expect.stringMatching(/^key_[0-9a-z]{22}$/),
    name: 'Dispatch',
    scopes: ['ingest', 'write'],
    userId: null,
    creation: expect.stringMatching(/Z$/),
    expires: null,
    lastUsed: null,
    version: NEWEST_VERSION,
    support: null,
  })
  expect(parseApiKey(apiKey)?.id).toBe(key.id)
  const listed = await list(account)
  expect(listed.keys.map(({ id }: { id: string }) => id)).toContain(key.id)
  expect(JSON.stringify(listed)).not.toContain(parseApiKey(apiKey)?.secret)
  const token = await fetchToken(account.userName, apiKey)
  expect((await call('POST', '/api/devices', { token, body: { name: 'Tern' } })).status).toBe(201)
  expect((await call('GET', KEYS, { token })).status).toBe(403)
})

test('the `Location` of a new key can be read, without the secret, until the key is deleted', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const created = await account.call('POST', '/api/account/keys', {
    body: { name: 'Dispatch', scopes: ['read'] },
  })
  const path = created.headers.get('Location') ?? ''
  const read = await account.call('GET', path)
  expect([read.status, read.body]).toEqual([200, { success: true, key: created.body.key }])
  expect(read.text).not.toContain(created.body.apiKey.split('_')[2])
  const etag = read.headers.get('ETag') ?? ''
  const again = await account.call('GET', path, { headers: { 'If-None-Match': etag } })
  expect(again.status).toBe(304)
  const missing = path.replace(/.{5}$/, '00000')
  for (const [who, where] of [
    [other, path],
    [account, missing],
  ] as const) {
    const reply = await who.call('GET', where)
    expect([reply.status, reply.body.code]).toEqual([404, 'key-not-found'])
  }
  await account.call('DELETE', path)
  expect((await account.call('GET', path)).status).toBe(404)
})

test('no database contains a secret: not of keys, not of operators, not in stored replies', async () => {
  const account = await openAccount()
  const first = await make(account)
  const again = await account.call('POST', `${KEYS}/${first.key.id}/regenerate`, {
    body: {},
    headers: { 'Idempotency-Key': 'r' },
  })
  const secrets = [account.apiKey, first.apiKey, again.body.apiKey].map(
    (apiKey) => parseApiKey(apiKey)?.secret ?? '',
  )
  const { results } = await env.DB.prepare(
    `SELECT name FROM sqlite_schema WHERE type = 'table'`,
  ).all<{ name: string }>()
  let rows = 0
  for (const { name } of results.filter((table) => !/^(sqlite_|d1_|_cf_)/.test(table.name))) {
    const dump = (await env.DB.prepare(`SELECT * FROM "${name}"`).all()).results
    rows += dump.length
    for (const secret of [...secrets, env.ADMIN_TOKEN ?? ''])
      expect(JSON.stringify(dump)).not.toContain(secret)
  }
  expect(rows).toBeGreaterThan(5)
})

test('an expired key stops working, and so do its tokens', async () => {
  const account = await openAccount()
  const expires = new Date(Date.now() + 60_000)
  const { key, apiKey } = await make(account, {
    expires: expires.toISOString().replace('Z', '+00:00'),
  })
  expect(key.expires).toBe(expires.toISOString())
  const token = await fetchToken(account.userName, apiKey)
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  later(60_001)
  expect(await signIn(account, apiKey)).toBe(401)
  expect((await call('GET', '/api/account', { token })).status).toBe(401)
  expect((await list(account)).keys.map(({ id }: { id: string }) => id)).not.toContain(key.id)
  expect((await account.call('DELETE', `${KEYS}/${key.id}`)).status).toBe(404)
  expect((await account.call('POST', `${KEYS}/${key.id}/regenerate`)).status).toBe(404)
})

test('a key with a past expiry or an unknown scope is refused with a pointer', async () => {
  const account = await openAccount()
  const pointers = async (body: object) => {
    const reply = await account.call('POST', KEYS, {
      body: { name: 'Dispatch', scopes: ['read'], ...body },
    })
    expect(reply.status).toBe(400)
    return reply.body.errors.map(({ pointer }: { pointer: string }) => pointer)
  }
  expect(await pointers({ expires: new Date().toISOString() })).toEqual(['/expires'])
  expect(await pointers({ expires: 'tomorrow' })).toEqual(['/expires'])
  expect(await pointers({ expires: '2099-01-01T00:00:00' })).toEqual(['/expires'])
  expect(await pointers({ expires: '2099-02-30T00:00:00Z' })).toEqual(['/expires'])
  expect(await pointers({ scopes: [] })).toEqual(['/scopes'])
  expect(await pointers({ scopes: ['read', 'root'] })).toEqual(['/scopes/1'])
  expect(await pointers({ scopes: 'read' })).toEqual(['/scopes'])
  expect(await pointers({ name: '   ' })).toEqual(['/name'])
  expect(await pointers({ hash: 'x', secret: 'y' })).toEqual(['/hash', '/secret'])
})

test('a key from GET can be sent back: members written by the server are ignored', async () => {
  const account = await openAccount()
  const { key } = await make(account)
  const { userId, ...shown } = key
  const copy = await make(account, { success: true, ...shown })
  expect(copy.key.id).not.toBe(key.id)
  expect(userId).toBeNull()
})

test('a deleted key gets no token, and the isolate that deleted it refuses its tokens at once', async () => {
  const account = await openAccount()
  const { key, apiKey } = await make(account)
  const token = await fetchToken(account.userName, apiKey)
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  expect((await account.call('DELETE', `${KEYS}/${key.id}`)).body).toEqual({ success: true })
  expect((await call('GET', '/api/account', { token })).status).toBe(401)
  expect(await signIn(account, apiKey)).toBe(401)
  expect((await account.call('DELETE', `${KEYS}/${key.id}`)).status).toBe(404)
})

test('a key deleted by another isolate stops working within 30 s, despite the cache', async () => {
  const account = await openAccount()
  const { key, apiKey } = await make(account)
  const token = await fetchToken(account.userName, apiKey)
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  await env.DB.prepare('DELETE FROM keys WHERE id = ?').bind(key.id).run()
  later(30_000)
  expect((await call('GET', '/api/account', { token })).status).toBe(401)
})

test('a cached key status is not read again', async () => {
  const account = await openAccount()
  await account.call('GET', KEYS)
  const statements: string[] = []
  const DB = watchStatements(env.DB, (sql) => statements.push(sql))
  await callWithBindings({ DB }, 'GET', '/api/devices', { token: account.token })
  await callWithBindings({ DB }, 'GET', '/api/devices', { token: account.token })
  expect(statements.filter((sql) => /from "keys"/i.test(sql)).length).toBeLessThanOrEqual(1)
})

test('`lastUsed` is accurate to ten minutes and written at most once in ten minutes', async () => {
  const account = await openAccount()
  const writes: string[] = []
  const DB = watchStatements(env.DB, (sql) => {
    if (/^\s*(update|insert|delete)/i.test(sql)) writes.push(sql)
  })
  const read = () => callWithBindings({ DB }, 'GET', '/api/account', { token: account.token })
  // The first use from this network has an entry of the audit.
  await read()
  writes.length = 0
  const period = 600_000
  const start = Math.ceil(Date.now() / period) * period
  vi.useFakeTimers({ toFake: ['Date'], now: start + 5_000 })
  await Promise.all(Array.from({ length: 10 }, read))
  for (let minute = 1; minute < 10; minute++) {
    vi.setSystemTime(start + minute * 60_000)
    await read()
  }
  expect(writes).toHaveLength(1)
  const used = async () => (await list(account)).keys[0].lastUsed
  expect(await used()).toBe(new Date(start).toISOString())
  vi.setSystemTime(start + period)
  await read()
  await read()
  expect(writes).toHaveLength(2)
  expect(await used()).toBe(new Date(start + period).toISOString())
})

test('after regenerating without an overlap only the new key works', async () => {
  const account = await openAccount()
  const old = await make(account, { name: 'Field', scopes: ['ingest', 'read'] })
  const token = await fetchToken(account.userName, old.apiKey)
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  const { status, body } = await account.call('POST', `${KEYS}/${old.key.id}/regenerate`)
  expect(status).toBe(200)
  expect(body.key).toMatchObject({
    name: 'Field',
    scopes: ['ingest', 'read'],
    expires: null,
    lastUsed: null,
  })
  expect(body.key.id).not.toBe(old.key.id)
  expect(await signIn(account, old.apiKey)).toBe(401)
  expect((await call('GET', '/api/account', { token })).status).toBe(401)
  await fetchToken(account.userName, body.apiKey)
  expect((await list(account)).keys.map(({ id }: { id: string }) => id)).not.toContain(old.key.id)
})

test('after regenerating with an overlap both keys work until it ends, then only the new one', async () => {
  const account = await openAccount()
  const old = await make(account)
  const { body } = await account.call('POST', `${KEYS}/${old.key.id}/regenerate`, {
    body: { overlapSeconds: 600 },
  })
  expect(await signIn(account, old.apiKey)).toBe(200)
  expect(await signIn(account, body.apiKey)).toBe(200)
  later(599_000)
  expect(await signIn(account, old.apiKey)).toBe(200)
  vi.setSystemTime(Date.now() + 2_000)
  expect(await signIn(account, old.apiKey)).toBe(401)
  expect(await signIn(account, body.apiKey)).toBe(200)
  for (const overlapSeconds of [-1, 86_401, 1.5, '60']) {
    const reply = await account.call('POST', `${KEYS}/${body.key.id}/regenerate`, {
      body: { overlapSeconds },
    })
    expect([reply.status, reply.body.errors[0].pointer]).toEqual([400, '/overlapSeconds'])
  }
})

test('an overlap never extends a key beyond its chosen expiry', async () => {
  const account = await openAccount()
  const expires = new Date(Date.now() + 10_000).toISOString()
  const old = await make(account, { expires })
  const { body } = await account.call('POST', `${KEYS}/${old.key.id}/regenerate`, {
    body: { overlapSeconds: 3600 },
  })
  expect(body.key.expires).toBe(expires)
  later(10_001)
  expect(await signIn(account, old.apiKey)).toBe(401)
  expect(await signIn(account, body.apiKey)).toBe(401)
})

test('a key regenerated twice, or again after a lost reply, keeps its chosen expiry', async () => {
  const account = await openAccount()
  const chosen = new Date(Date.now() + 7 * 86_400_000).toISOString()
  for (const expires of [null, chosen]) {
    const old = await make(account, { expires })
    const regenerate = (headers: Record<string, string> = {}) =>
      account.call('POST', `${KEYS}/${old.key.id}/regenerate`, {
        body: { overlapSeconds: 600 },
        headers,
      })
    const [first, second] = [await regenerate(), await regenerate()]
    expect([first.body.key.expires, second.body.key.expires]).toEqual([expires, expires])
    const shown = (await list(account)).keys.find(({ id }: { id: string }) => id === old.key.id)
    expect(Date.parse(shown.expires)).toBeLessThan(Date.now() + 601_000)

    const key = { 'Idempotency-Key': crypto.randomUUID() }
    const lost = (await regenerate(key)).body.key
    // As if the Worker had crashed before it stored the reply.
    await env.DB.prepare(
      'UPDATE idempotency SET status = NULL, leased_until = 0 WHERE account_id = ?',
    )
      .bind(account.id)
      .run()
    expect((await regenerate(key)).body.key).toMatchObject({ id: lost.id, expires })
    expect(
      (await list(account)).keys.find(({ id }: { id: string }) => id === lost.id).expires,
    ).toBe(expires)
  }
})

test('a bound user who lost the reply to regenerating its own key gets it by retrying', async () => {
  const account = await openAccount()
  const bound = await createBoundUser(account, { privileges: ['admin'] })
  const regenerate = (key: string) =>
    call('POST', `${KEYS}/${bound.keyId}/regenerate`, {
      token: bound.token,
      body: { overlapSeconds: 600 },
      headers: { 'Idempotency-Key': key },
    })
  const first = await regenerate('lost')
  expect(first.status).toBe(200)
  // As if the Worker had crashed before it stored the reply.
  await env.DB.prepare(
    'UPDATE idempotency SET status = NULL, leased_until = 0 WHERE account_id = ?',
  )
    .bind(account.id)
    .run()
  const again = await regenerate('lost')
  expect([again.status, again.body.key?.id]).toEqual([200, first.body.key.id])
  expect(await signIn(account, again.body.apiKey)).toBe(200)
})

test('a token of a deleted key creates no key, even while the key status is cached', async () => {
  const account = await openAccount()
  const doomed = await make(account, { scopes: ['admin'] })
  const other = await make(account)
  const token = await fetchToken(account.userName, doomed.apiKey)
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  await env.DB.prepare('DELETE FROM keys WHERE id = ?').bind(doomed.key.id).run()
  expect((await call('GET', '/api/account', { token })).status).toBe(200)
  expect(
    (await call('POST', KEYS, { token, body: { name: 'Mine', scopes: ['admin'] } })).status,
  ).toBe(401)
  expect((await call('POST', `${KEYS}/${other.key.id}/regenerate`, { token })).status).toBe(401)
  expect((await list(account)).keys).toHaveLength(2)
})

test('paging through keys is not disturbed by keys created or deleted meanwhile', async () => {
  const account = await openAccount()
  for (let number = 0; number < 5; number++) await make(account, { name: `Key ${number}` })
  const first = await account.call('GET', `${KEYS}?limit=2`)
  expect(first.body.keys.map(({ name }: { name: string }) => name)).toEqual(['first', 'Key 0'])
  expect(first.headers.get('Link')).toBe(
    `<${KEYS}?limit=2&cursor=${encodeURIComponent(first.body.nextCursor)}>; rel="next"`,
  )
  await account.call('DELETE', `${KEYS}/${first.body.keys[1].id}`)
  await make(account, { name: 'Key 5' })
  const names = []
  for (let cursor = first.body.nextCursor; cursor; ) {
    const page = await list(account, `?limit=2&cursor=${cursor}`)
    names.push(...page.keys.map(({ name }: { name: string }) => name))
    cursor = page.nextCursor
  }
  expect(names).toEqual(['Key 1', 'Key 2', 'Key 3', 'Key 4', 'Key 5'])
  const whole = await account.call('GET', KEYS)
  expect([whole.body.keys.length, whole.body.nextCursor, whole.headers.has('Link')]).toEqual([
    6,
    null,
    false,
  ])
})

test('a cursor is valid only for its list, its account and its filters', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  for (const { call: ask } of [account, other])
    await ask('POST', KEYS, { body: { name: 'Two', scopes: ['read'] } })
  for (const name of ['A', 'B']) await account.call('POST', '/api/devices', { body: { name } })
  const { nextCursor } = await list(account, '?limit=1')
  const devices = (await account.call('GET', '/api/devices?limit=1&sort=-name')).body.nextCursor
  const refused = [
    await other.call('GET', `${KEYS}?limit=1&cursor=${nextCursor}`),
    await account.call('GET', `/api/devices?cursor=${nextCursor}`),
    await account.call('GET', `${KEYS}?cursor=${devices}`),
    await account.call('GET', `/api/devices?cursor=${devices}`),
    await account.call('GET', `/api/devices?sort=-name&state=active&cursor=${devices}`),
    await account.call('GET', `${KEYS}?cursor=${nextCursor}x`),
    await account.call('GET', `${KEYS}?cursor=${nextCursor}.${nextCursor}`),
    await account.call(
      'GET',
      `${KEYS}?cursor=${btoa('["key_"]').replaceAll('=', '')}.${nextCursor.split('.')[1]}`,
    ),
  ]
  for (const reply of refused) {
    expect([reply.status, reply.body.code]).toEqual([400, 'invalid-cursor'])
    expect(reply.body.errors).toEqual([
      { pointer: '#/query/cursor', detail: 'must be a `nextCursor` of this list, unchanged' },
    ])
  }
  expect((await account.call('GET', `${KEYS}?limit=2&cursor=${nextCursor}`)).status).toBe(200)
  expect(
    (await account.call('GET', `/api/devices?limit=5&sort=-name&cursor=${devices}`)).body.devices,
  ).toHaveLength(1)
})

test('each scope allows exactly what it says', async () => {
  const account = await openAccount()
  const may = async (scope: string) => {
    const token = await fetchTokenWithScopes(account, [scope])
    const ask = async (method: string, path: string, body?: object) =>
      (await call(method, path, { token, ...(body && { body }) })).status !== 403
    return {
      read: await ask('GET', '/api/devices'),
      write: await ask('POST', '/api/devices', { name: 'Tern' }),
      admin: await ask('GET', KEYS),
    }
  }
  expect(await may('ingest')).toEqual({ read: false, write: false, admin: false })
  expect(await may('read')).toEqual({ read: true, write: false, admin: false })
  expect(await may('write')).toEqual({ read: true, write: true, admin: false })
  expect(await may('admin')).toEqual({ read: true, write: true, admin: true })
})
