import { createExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { app } from '../../../src/app.ts'
import { fetchToken, fetchTokenWithScopes, openAccount } from '../../support/accounts.ts'
import { callWithBindings, failStatements, watchStatements } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { Listener } from '../../support/feed/streams.ts'
import { call, ORIGIN, type Reply } from '../../support/http.ts'
import { eventually, iso } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

const signIn = (
  userName: string,
  apiKey: string,
  address: string,
  more: Record<string, string> = {},
) =>
  call('POST', '/api/Auth/Token', {
    body: { userName, apiKey },
    headers: { 'CF-Connecting-IP': address, ...more },
  })

test('after ten wrong keys from one address with one user name: 429, whatever X-Forwarded-For has', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const address = '203.0.113.7'
  const replies = []
  for (let tries = 0; tries < 12; tries++) {
    replies.push(
      await signIn(account.userName, other.apiKey, address, {
        'X-Forwarded-For': `198.51.100.${tries}`,
        Forwarded: `for=${tries}`,
      }),
    )
  }
  expect(replies.map(({ status }) => status)).toEqual([...Array(10).fill(401), 429, 429])
  const closed = replies.at(-1)
  expect(closed?.body.code).toBe('too-many-requests')
  const seconds = Number(closed?.headers.get('Retry-After'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)
  expect(closed?.headers.get('RateLimit')).toBe(`"token";r=0;t=${seconds}`)

  expect((await signIn(account.userName, account.apiKey, address)).status).toBe(429)
  expect((await signIn(account.userName.toUpperCase(), other.apiKey, address)).status).toBe(429)
  expect((await signIn(account.userName, account.apiKey, '203.0.113.8')).status).toBe(200)
  expect((await signIn(other.userName, other.apiKey, address)).status).toBe(200)
})

test('all addresses of an IPv6 /64 network count as one', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const tries = Array.from({ length: 11 }, (_, n) =>
    signIn(account.userName, other.apiKey, `2001:db8:7:1::${n.toString(16)}`),
  )
  expect((await Promise.all(tries)).map(({ status }) => status).sort()).toEqual([
    ...Array(10).fill(401),
    429,
  ])
  expect((await signIn(account.userName, account.apiKey, '2001:db8:7:2::1')).status).toBe(200)
})

test('the limit on failed sign-ins resets after a minute', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const address = '203.0.113.9'
  for (let tries = 0; tries < 10; tries++) await signIn(account.userName, other.apiKey, address)
  expect((await signIn(account.userName, account.apiKey, address)).status).toBe(429)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  expect((await signIn(account.userName, account.apiKey, address)).status).toBe(200)
})

test('of a hundred concurrent guesses ten are checked', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => signIn(account.userName, other.apiKey, '203.0.113.10')),
  )
  expect(replies.filter(({ status }) => status === 401)).toHaveLength(10)
  expect(replies.filter(({ status }) => status === 429)).toHaveLength(90)
})

test('failed sign-ins from one address are limited whatever the user names, before any read', async () => {
  const { apiKey } = await openAccount()
  const address = '203.0.113.20'
  const statements: string[] = []
  const DB = watchStatements(env.DB, (sql) => statements.push(sql))
  const CELL_1 = watchStatements(env.CELL_1, (sql) => statements.push(sql))
  const guess = async (n: number, from = address) => {
    const bindings = { DB, CELL_1, TOKEN_FAILURES_PER_ADDRESS: '' } as object
    const reply = await callWithBindings(bindings, 'POST', '/api/Auth/Token', {
      body: { userName: `nobody-${n}`, apiKey },
      headers: { 'CF-Connecting-IP': from },
    })
    return reply.status
  }
  const statuses = await Promise.all(Array.from({ length: 70 }, (_, n) => guess(n)))
  expect(statuses.filter((status) => status === 401)).toHaveLength(60)
  expect(statuses.filter((status) => status === 429)).toHaveLength(10)
  expect(statements).toHaveLength(180)
  expect(await guess(100)).toBe(429)
  expect(statements).toHaveLength(180)
  expect(await guess(100, '203.0.113.21')).toBe(401)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  expect(await guess(101)).toBe(401)
})

test('the limit per address is configurable, and addresses of an IPv6 /64 share it', async () => {
  const { apiKey } = await openAccount()
  const bindings = { TOKEN_FAILURES_PER_ADDRESS: '3' }
  const statuses = []
  for (let n = 0; n < 5; n++) {
    const reply = await callWithBindings(bindings, 'POST', '/api/Auth/Token', {
      body: { userName: `no-one-${n}`, apiKey },
      headers: { 'CF-Connecting-IP': `2001:db8:9:1::${n}` },
    })
    statuses.push(reply.status)
  }
  expect(statuses).toEqual([401, 401, 401, 429, 429])
})

test('wrong tokens of the operator are limited per network, and then none is compared', async () => {
  const bindings = { TOKEN_FAILURES_PER_ADDRESS: '3' }
  const ask = async (token: string, address = '203.0.113.77') => {
    const headers = { 'CF-Connecting-IP': address }
    return callWithBindings(bindings, 'GET', '/admin/accounts', { token, headers })
  }
  const warn = vi.spyOn(console, 'warn').mockImplementation(() => {})
  const wrong = 'w'.repeat(40)
  const replies = [await ask(wrong), await ask(wrong), await ask(wrong), await ask(wrong)]
  expect(replies.map(({ status }) => status)).toEqual([401, 401, 401, 429])
  expect(replies[3]?.body.code).toBe('too-many-requests')
  expect(Number(replies[3]?.headers.get('Retry-After'))).toBeGreaterThan(0)
  const logged = warn.mock.calls.filter(([line]) => /operator-token-failures/.test(String(line)))
  expect(logged).toHaveLength(1)
  const right = env.ADMIN_TOKEN ?? ''
  expect((await ask(right)).status).toBe(429)
  const tokens = [...Array<string>(20).fill(wrong), right]
  const atOnce = await Promise.all(tokens.map((token) => ask(token, '203.0.113.80')))
  expect(atOnce.filter(({ status }) => status !== 429)).toHaveLength(3)
  expect(atOnce.at(-1)?.status).toBe(429)
  expect((await ask(wrong, '203.0.113.78')).status).toBe(401)
  // Others of the operator's own network do not keep the operator out, for an hour.
  const own = '203.0.113.79'
  const exhaust = async () => {
    for (let count = 0; count < 3; count++) expect((await ask(wrong, own)).status).toBe(401)
    expect((await ask(wrong, own)).status).toBe(429)
  }
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() })
  expect((await ask(right, own)).status).toBe(200)
  await exhaust()
  expect((await ask(right, own)).status).toBe(200)
  vi.setSystemTime(Date.now() + 3_600_000)
  await exhaust()
  expect((await ask(right, own)).status).toBe(429)
  vi.setSystemTime(Date.now() + 60_000)
  expect((await ask(right, own)).status).toBe(200)
  vi.useRealTimers()
  warn.mockRestore()
})

test('sign-ins that succeed or cannot be checked do not count for their address', async () => {
  const { userName, apiKey } = await openAccount()
  const headers = { 'CF-Connecting-IP': '203.0.113.22' }
  const options = { body: { userName, apiKey }, headers }
  const bindings = { TOKEN_FAILURES_PER_ADDRESS: '2' }
  for (let n = 0; n < 4; n++) {
    const down = { ...bindings, DB: failStatements(env.DB, /directory/) }
    expect((await callWithBindings(down, 'POST', '/api/Auth/Token', options)).status).toBe(503)
    expect((await callWithBindings(bindings, 'POST', '/api/Auth/Token', options)).status).toBe(200)
  }
})

test('when the binding refuses an address, it gets 429 for the rest of the minute', async () => {
  const { userName, apiKey } = await openAccount()
  const wrong = (await openAccount()).apiKey
  const TOKEN_FAILURES = {
    limit: async ({ key }: { key: string }) => ({ success: key.includes(' ') }),
  } as unknown as RateLimit
  const attempt = async (name: string, key: string) => {
    const bindings = { TOKEN_FAILURES, TOKEN_FAILURES_PER_ADDRESS: '' }
    const reply = await callWithBindings(bindings, 'POST', '/api/Auth/Token', {
      body: { userName: name, apiKey: key },
      headers: { 'CF-Connecting-IP': '203.0.113.23' },
    })
    return reply.status
  }
  const statuses = []
  for (let n = 0; n < 6; n++) statuses.push(await attempt(`nobody-${n}`, wrong))
  expect(statuses).toEqual([401, 401, 401, 401, 401, 429])
  expect(await attempt(userName, apiKey)).toBe(429)
})

test('successful sign-ins and invalid bodies are not counted', async () => {
  const account = await openAccount()
  const address = '203.0.113.11'
  for (let tries = 0; tries < 12; tries++) {
    expect((await signIn(account.userName, account.apiKey, address)).status).toBe(200)
    expect((await signIn(account.userName, '', address)).status).toBe(400)
  }
})

test('when the binding refuses, the address gets 429 for the rest of the minute', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const asked: string[] = []
  const closed = {
    limit: async ({ key }: { key: string }) => ({ success: asked.push(key) === 0 }),
  } as unknown as RateLimit
  const attempt = (apiKey: string) =>
    callWithBindings({ TOKEN_FAILURES: closed }, 'POST', '/api/Auth/Token', {
      body: { userName: account.userName, apiKey },
      headers: { 'CF-Connecting-IP': '203.0.113.12' },
    })
  expect((await attempt(other.apiKey)).status).toBe(429)
  expect((await attempt(account.apiKey)).status).toBe(429)
  expect(asked).toEqual([`203.0.113.12 ${account.userName}`])
})

test('an account has a limit per minute, sees what is left, and gets 429 beyond it', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const limited = { ACCOUNT_REQUESTS_PER_MINUTE: '5' }
  const read = (token: string) => callWithBindings(limited, 'GET', '/api/account', { token })
  const replies = []
  for (let count = 0; count < 7; count++) replies.push(await read(account.token))
  expect(replies.map(({ status }) => status)).toEqual([200, 200, 200, 200, 200, 429, 429])
  expect(replies.map(({ headers }) => headers.get('RateLimit')?.split(';')[1])).toEqual([
    'r=4',
    'r=3',
    'r=2',
    'r=1',
    'r=0',
    'r=0',
    'r=0',
  ])
  for (const { headers } of replies)
    expect(headers.get('RateLimit-Policy')).toBe(
      '"account";q=5;w=60, "token";q=10;w=60, "sign-in";q=100000;w=60',
    )
  const seconds = Number(replies.at(-1)?.headers.get('Retry-After'))
  expect(seconds).toBeGreaterThan(0)
  expect(seconds).toBeLessThanOrEqual(60)

  expect((await read(await fetchToken(account.userName, account.apiKey))).status).toBe(429)
  expect((await read(other.token)).status).toBe(200)
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
  expect((await read(account.token)).status).toBe(200)
})

test('a report counts one more for each further 100 locations and for each 64 KiB', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account)}/locations`
  const now = Date.now()
  const report = (count: number, more: object = {}) =>
    callWithBindings({ ACCOUNT_REQUESTS_PER_MINUTE: '40' }, 'POST', path, {
      token: account.token,
      body: Array.from({ length: count }, (_, index) => ({
        dateTime: iso(now - index),
        latitude: 1,
        longitude: 2,
        ...more,
      })),
    })
  const left = ({ headers }: Reply) => /r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1]
  // Creating the device was the first request.
  expect(left(await report(1))).toBe('38')
  expect(left(await report(100))).toBe('37')
  expect(left(await report(101))).toBe('35')
  // Two bodies of a little more than 64 KiB, the second with 201 locations.
  expect(left(await report(10, { attributes: { note: 'x'.repeat(6_600) } }))).toBe('33')
  expect(left(await report(201, { attributes: { note: 'x'.repeat(300) } }))).toBe('29')
  const [whole, heavy] = [await report(1000), await report(1000)]
  expect([left(whole), left(heavy)]).toEqual(['18', '7'])
  for (let sent = 0; sent < 6; sent++) await report(1)
  // The request that reaches the limit is served, whatever it counts, and the next one is not.
  const last = await report(1000)
  expect([last.status, left(last)]).toEqual([201, '0'])
  const beyond = await report(1)
  expect([beyond.status, beyond.body.code, left(beyond)]).toEqual([429, 'too-many-requests', '0'])
})

test('of many heavy requests at once only one passes the limit', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account)}/locations`
  const body = Array.from({ length: 1000 }, (_, index) => ({
    dateTime: iso(Date.now() - index),
    latitude: 1,
    longitude: 2,
  }))
  const limited = { ACCOUNT_REQUESTS_PER_MINUTE: '40' }
  const replies = await Promise.all(
    Array.from({ length: 8 }, () =>
      callWithBindings(limited, 'POST', path, { token: account.token, body }),
    ),
  )
  const statuses = replies.map(({ status }) => status)
  expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(4)
  expect(statuses).toContain(201)
  expect(statuses).toContain(429)
})

test('a query counts as one request, whatever it returns', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account)}/locations`
  const reply = await callWithBindings({ ACCOUNT_REQUESTS_PER_MINUTE: '3' }, 'POST', path, {
    token: account.token,
    body: { from: iso(Date.now() - 1000), to: iso(Date.now()) },
  })
  expect([reply.status, reply.headers.get('RateLimit')]).toEqual([
    200,
    expect.stringContaining('r=1;'),
  ])
})

test('each slice of a heavy request is reported to the binding', async () => {
  const account = await openAccount()
  const path = `/api/devices/${await createDevice(account)}/locations`
  let asked = 0
  const binding = {
    limit: async () => {
      asked++
      return { success: true }
    },
  } as unknown as RateLimit
  const body = Array.from({ length: 1000 }, (_, index) => ({
    dateTime: iso(Date.now() - index),
    latitude: 1,
    longitude: 2,
  }))
  // Slices of two: with the device's request this is the 12th.
  await callWithBindings(
    { ACCOUNT_SLICES: binding, ACCOUNT_REQUESTS_PER_MINUTE: '200' },
    'POST',
    path,
    { token: account.token, body },
  )
  expect(asked).toBe(6)
})

test('requests that get 403, 404 or 405 are counted too', async () => {
  const account = await openAccount()
  const limited = { ACCOUNT_REQUESTS_PER_MINUTE: '3' }
  const statuses = []
  for (const path of [
    '/api/nothing',
    '/api/account/keys/x/regenerate',
    '/api/account',
    '/api/account',
  ]) {
    statuses.push((await callWithBindings(limited, 'GET', path, { token: account.token })).status)
  }
  expect(statuses).toEqual([404, 405, 200, 429])
})

test('a stream with its token in the first message counts as a request and a use of the key', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const blind = await fetchTokenWithScopes(other, ['ingest'])
  const limited = { ...env, ACCOUNT_REQUESTS_PER_MINUTE: '2' }
  const closingOf = async (token: string) => {
    const context = createExecutionContext()
    const { webSocket } = await app.request(
      `${ORIGIN}/api/stream`,
      { headers: { Upgrade: 'websocket' } },
      limited,
      context,
    )
    const stream = new Listener(webSocket as WebSocket)
    stream.send({ type: 'token', token })
    await stream.waitForReady()
    return stream.closed?.code ?? null
  }
  const lastUsed = () =>
    env.DB.prepare('SELECT last_used FROM keys WHERE account_id = ?')
      .bind(account.id)
      .first<number>('last_used')
  expect(await lastUsed()).toBeNull()
  expect([
    await closingOf(account.token),
    await closingOf(account.token),
    await closingOf(account.token),
  ]).toEqual([null, null, 4429])
  await eventually(async () => expect(await lastUsed()).not.toBeNull())
  expect(
    (
      await callWithBindings({ ACCOUNT_REQUESTS_PER_MINUTE: '2' }, 'GET', '/api/account', {
        token: account.token,
      })
    ).status,
  ).toBe(429)
  // Creating the key was the other account's first request.
  expect([await closingOf(blind), await closingOf(blind)]).toEqual([4403, 4429])
})

test('when the binding refuses a slice, the account gets 429 for the rest of the minute', async () => {
  const account = await openAccount()
  const closed = { limit: async () => ({ success: false }) } as unknown as RateLimit
  const read = () =>
    callWithBindings(
      { ACCOUNT_SLICES: closed, ACCOUNT_REQUESTS_PER_MINUTE: '200' },
      'GET',
      '/api/account',
      { token: account.token },
    )
  expect([(await read()).status, (await read()).status, (await read()).status]).toEqual([
    200, 200, 429,
  ])
})

test('when the binding fails, the isolate decides by its own count', async () => {
  const [account, other] = [await openAccount(), await openAccount()]
  const broken = {
    limit: async () => Promise.reject(new Error('unreachable')),
  } as unknown as RateLimit
  const bindings = {
    ACCOUNT_SLICES: broken,
    TOKEN_FAILURES: broken,
    ACCOUNT_REQUESTS_PER_MINUTE: '3',
  }
  const body = { userName: account.userName, apiKey: other.apiKey }
  const headers = { 'CF-Connecting-IP': '203.0.113.13' }
  expect(
    (await callWithBindings(bindings, 'POST', '/api/Auth/Token', { body, headers })).status,
  ).toBe(401)
  expect(
    (await callWithBindings(bindings, 'GET', '/api/account', { token: account.token })).status,
  ).toBe(200)
})
