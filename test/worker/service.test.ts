import { env } from 'cloudflare:workers'
import { afterEach, expect, test, vi } from 'vitest'
import { PROBLEMS } from '../../src/http/contract/problem.ts'
import { sweep } from '../../src/sweep/sweep.ts'
import { openAccount } from '../support/accounts.ts'
import {
  callWithBindings,
  failExecutions,
  failStatements,
  serveWithBindings,
} from '../support/bindings.ts'
import { call } from '../support/http.ts'

afterEach(() => {
  vi.restoreAllMocks()
  vi.useRealTimers()
})

test('the health check is 200 while the directory answers, and 503 otherwise', async () => {
  await sweep(env, Date.now())
  const healthy = await call('GET', '/healthz')
  expect([healthy.status, healthy.body]).toMatchObject([200, { success: true, status: 'ok' }])
  const down = await callWithBindings({ DB: failStatements(env.DB, /./) }, 'GET', '/healthz')
  expect([down.status, down.body.code, down.headers.get('Retry-After')]).toEqual([
    503,
    'unavailable',
    '5',
  ])
})

test('the result of a health check is kept for five seconds, a failure too', async () => {
  const startedAt = Date.now()
  vi.useFakeTimers({ toFake: ['Date'], now: startedAt })
  const { db: DB, runs } = failExecutions(env.DB, { pattern: /from "cells"/, times: 1 })
  const check = async (secondsLater: number) => {
    vi.setSystemTime(startedAt + secondsLater * 1000)
    return (await callWithBindings({ DB }, 'GET', '/healthz')).status
  }
  expect([await check(0), await check(1), await check(4.9), runs()]).toEqual([503, 503, 503, 1])
  expect([await check(5), await check(6), await check(9.9), runs()]).toEqual([200, 200, 200, 2])
  expect([await check(10), runs()]).toEqual([200, 3])
})

test('the type of every problem links to a page that says what to do', async () => {
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
  const withSlash = await call('GET', '/problems/')
  expect([withSlash.status, withSlash.headers.get('Location')]).toEqual([308, '/problems'])
  expect((await call('GET', '/problems/toString')).body.code).toBe('route-not-found')
  expect((await call('GET', '/problems/%3Cscript%3E')).status).toBe(404)
})

test('an unknown path is a 404 problem, and under /api a 401 without a token', async () => {
  const account = await openAccount()
  // Any other path shows the console, if it is built.
  for (const path of ['/api', '/admin', '/Healthz', '/healthz/', '//healthz', '/api%2Faccount']) {
    const reply = await call('GET', path)
    expect([reply.status, reply.body?.code], path).toEqual([404, 'route-not-found'])
  }
  expect((await call('GET', '/api')).body.detail).toContain('/docs')
  expect((await call('GET', '/api/nothing')).status).toBe(401)
  expect((await account.call('GET', '/api/nothing')).status).toBe(404)
  expect((await account.call('GET', '/api/Account')).status).toBe(404)
  expect((await call('GET', '/api/AUTH/TOKEN')).status).toBe(401)
  expect((await account.call('POST', '/api/AUTH/TOKEN', { body: {} })).status).toBe(404)
})

test('an internal failure is 500 or 503 and shows no details', async () => {
  const account = await openAccount()
  const ask = (DB: D1Database) =>
    callWithBindings({ DB }, 'GET', '/api/devices', { token: account.token })
  const transient = await ask(failStatements(env.DB, /devices/))
  expect([transient.status, transient.headers.get('Retry-After')]).toEqual([503, '5'])
  const faulty = new Proxy(env.DB, {
    get: () => () => {
      throw new TypeError('SELECT secret FROM keys at line 7')
    },
  })
  const internal = await ask(faulty)
  expect([internal.status, internal.body.code]).toEqual([500, 'internal'])
  for (const { text } of [transient, internal])
    expect(text).not.toMatch(/SELECT|secret|D1|line|TypeError|\.ts/)
})

test('each request is logged as one line of JSON, without personal data', async () => {
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
      message: 'D1_ERROR: Network connection lost.',
      stack: expect.stringMatching(/^at /),
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

test('a failure is logged with the message of D1 and the stack, without bound values', async () => {
  const account = await openAccount()
  const email = `ana-${crypto.randomUUID()}@example.com`
  const write = vi.spyOn(console, 'error').mockImplementation(() => {})
  const error = new Error('D1_ERROR: no such column: nickname: SQLITE_ERROR')
  const { db: DB } = failExecutions(env.DB, { pattern: /insert into "users"/i, times: 1, error })
  const reply = await callWithBindings({ DB }, 'POST', '/api/users', {
    token: account.token,
    headers: { 'X-Request-Id': 'find-me' },
    body: { name: 'Ana Sousa', email, country: 'PT', timeZone: 'Europe/Lisbon' },
  })
  expect(reply.status).toBe(500)
  const line = String(write.mock.calls[0]?.[0])
  expect(JSON.parse(line)).toMatchObject({
    level: 'error',
    requestId: 'find-me',
    status: 500,
    message: 'D1_ERROR: no such column: nickname: SQLITE_ERROR',
    stack: expect.stringContaining('\n'),
  })
  for (const personal of [email, 'Ana', 'Lisbon']) expect(line).not.toContain(personal)
})

test('OPTIONS gets 204 on every path, with and without an Origin', async () => {
  for (const path of ['/api/account', '/api/Auth/Token', '/admin/accounts', '/healthz']) {
    const reply = await call('OPTIONS', path)
    expect(reply.status).toBe(204)
    expect(reply.headers.get('Access-Control-Allow-Origin')).toBe('*')
    expect(reply.headers.get('Access-Control-Allow-Methods')).toBe(
      'GET, HEAD, POST, PUT, PATCH, DELETE, OPTIONS',
    )
  }
})

test('an invalid setting is an error and not replaced by the default', async () => {
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

test('a file of the console that does not exist is a 404, not the page of the console', async () => {
  const file = (body: string, type: string) => {
    const headers = { 'Content-Type': type, 'Cache-Control': 'max-age=31536000, immutable' }
    return { ASSETS: { fetch: async () => new Response(body, { headers }) } as unknown as Fetcher }
  }
  const script = file('let a', 'text/javascript; charset=utf-8')
  const found = await serveWithBindings(script, 'GET', '/console/main.js')
  expect([found.status, found.text]).toEqual([200, 'let a'])
  const page = file('<!doctype html>', 'text/html; charset=utf-8')
  for (const method of ['GET', 'HEAD', 'POST']) {
    const missing = await serveWithBindings(page, method, '/console/nothing.js')
    expect([method, missing.status]).toEqual([method, 404])
    expect(missing.headers.get('Cache-Control')).toBe('no-store')
  }
})

test('every reply tells browsers to come back by TLS only', async () => {
  for (const path of [
    '/healthz',
    '/api/devices',
    '/problems',
    '/a/nothing',
    '/c/nothing',
    '/nothing',
    '/problems/',
  ])
    for (const method of ['GET', 'OPTIONS']) {
      const { headers } = await call(method, path)
      expect([path, headers.get('Strict-Transport-Security')]).toEqual([path, 'max-age=31536000'])
    }
})
