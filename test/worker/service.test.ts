import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { PROBLEMS } from '../../src/http/problem.ts'
import { openAccount } from '../support/accounts.ts'
import { callWithBindings, failStatements } from '../support/bindings.ts'
import { call } from '../support/http.ts'

afterEach(() => {
  vi.restoreAllMocks()
})

test('the service says that it is up once its directory has answered, and 503 while it does not', async () => {
  expect((await call('GET', '/healthz')).body).toEqual({ success: true, status: 'ok' })
  const down = await callWithBindings({ DB: failStatements(env.DB, /./) }, 'GET', '/healthz')
  expect([down.status, down.body.code, down.headers.get('Retry-After')]).toEqual([
    503,
    'unavailable',
    '5',
  ])
})

test('the type of every problem leads to a page that says what to do', async () => {
  const index = await call('GET', '/problems')
  expect(index.headers.get('Content-Type')).toMatch(/^text\/html/)
  for (const [code, { status, title }] of Object.entries(PROBLEMS)) {
    expect(index.text).toContain(`href="/problems/${code}"`)
    const page = await call('GET', `/problems/${code}`)
    expect(page.status).toBe(200)
    expect(page.headers.get('Content-Type')).toMatch(/^text\/html/)
    for (const part of [`<h1>${title}</h1>`, String(status), `<code>${code}</code>`])
      expect(page.text).toContain(part)
    expect(page.text).not.toMatch(/https?:\/\//)
  }
  expect((await call('GET', '/problems/toString')).body.code).toBe('not-found')
  expect((await call('GET', '/problems/%3Cscript%3E')).status).toBe(404)
})

test('what nobody serves is 404 in the one shape, and under /api only for those with a token', async () => {
  const account = await openAccount()
  for (const path of [
    '/nothing',
    '/api',
    '/apis',
    '/admin',
    '/Healthz',
    '/healthz/',
    '//healthz',
    '/api%2Faccount',
  ]) {
    const reply = await call('GET', path)
    expect([reply.status, reply.body?.code], path).toEqual([404, 'not-found'])
  }
  expect((await call('GET', '/api/nothing')).status).toBe(401)
  expect((await account.call('GET', '/api/nothing')).status).toBe(404)
  expect((await account.call('GET', '/api/Account')).status).toBe(404)
  expect((await call('GET', '/api/AUTH/TOKEN')).status).toBe(401)
  expect((await account.call('POST', '/api/AUTH/TOKEN', { body: {} })).status).toBe(404)
})

test('a failure of our own is 500 or 503, and says nothing of what failed', async () => {
  const account = await openAccount()
  const ask = (DB: D1Database) =>
    callWithBindings({ DB }, 'GET', '/api/devices', { token: account.token })
  const passing = await ask(failStatements(env.DB, /devices/))
  expect([passing.status, passing.headers.get('Retry-After')]).toEqual([503, '5'])
  const broken = new Proxy(env.DB, {
    get: () => () => {
      throw new TypeError('SELECT secret FROM keys at line 7')
    },
  })
  const internal = await ask(broken)
  expect([internal.status, internal.body.code]).toEqual([500, 'internal'])
  for (const { text } of [passing, internal])
    expect(text).not.toMatch(/SELECT|secret|D1|line|TypeError|\.ts/)
})

test('one line of JSON is logged of each request: its id, account, route, status and time, and nothing of its content', async () => {
  const account = await openAccount()
  const { body } = await account.call('POST', '/api/devices', {
    body: { name: 'Tern', min: '+8816123456789' },
  })
  const log = vi.spyOn(console, 'log').mockImplementation(() => {})
  const error = vi.spyOn(console, 'error').mockImplementation(() => {})
  const headers = {
    'X-Request-Id': 'log-1',
    'CF-Connecting-IP': '203.0.113.99',
    'User-Agent': 'agent/1',
  }
  await account.call('GET', `/api/devices/${body.device.id}?x=y`, { headers })
  await call('POST', '/api/Auth/Token', {
    body: { userName: account.userName, apiKey: account.apiKey },
    headers,
  })
  await callWithBindings({ DB: failStatements(env.DB, /devices/) }, 'GET', '/api/devices', {
    token: account.token,
    headers,
  })
  const lines = [...log.mock.calls, ...error.mock.calls].map(([line]) => String(line))
  const entries = lines.map((line) => JSON.parse(line))
  expect(entries).toEqual([
    {
      level: 'info',
      requestId: 'log-1',
      account: account.id,
      method: 'GET',
      route: '/api/devices/:deviceId',
      status: 200,
      durationMs: expect.any(Number),
    },
    {
      level: 'info',
      requestId: 'log-1',
      account: null,
      method: 'POST',
      route: '/api/Auth/Token',
      status: 200,
      durationMs: expect.any(Number),
    },
    {
      level: 'error',
      requestId: 'log-1',
      account: account.id,
      method: 'GET',
      route: '/api/devices',
      status: 503,
      durationMs: expect.any(Number),
      error: 'Error',
    },
  ])
  for (const secret of [
    account.token,
    account.apiKey,
    account.userName,
    body.device.id,
    '+8816123456789',
    '203.0.113.99',
    'agent/1',
  ]) {
    expect(lines.join('\n')).not.toContain(secret)
  }
})

test('OPTIONS is answered everywhere, asked by a browser or not', async () => {
  for (const path of ['/api/account', '/api/Auth/Token', '/admin/accounts', '/healthz']) {
    const reply = await call('OPTIONS', path)
    expect(reply.status).toBe(204)
    expect(reply.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(reply.headers.get('Access-Control-Allow-Methods')).toBe(
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    )
  }
})

test('a configuration that makes no sense is an error, not a default', async () => {
  for (const [name, value] of [
    ['TOKEN_TTL_SECONDS', '0'],
    ['TOKEN_TTL_SECONDS', 'an hour'],
    ['TOKEN_SECRET', 'short'],
  ] as const) {
    const { userName, apiKey } = await openAccount()
    const reply = await callWithBindings({ [name]: value }, 'POST', '/api/Auth/Token', {
      body: { userName, apiKey },
    })
    expect(reply.status, `${name}=${value}`).toBe(500)
  }
})
