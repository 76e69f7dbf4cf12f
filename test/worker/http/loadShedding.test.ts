import { exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { call, ORIGIN } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'

test('a hundred concurrent requests are all served', async () => {
  const account = await openAccount()
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => account.call('GET', '/api/devices')),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
})

test('of too many concurrent requests some get 503, and nothing of them is stored', async () => {
  const account = await openAccount({ licenses: 1000 })
  const replies = await Promise.all(
    Array.from({ length: 400 }, (_, n) =>
      account.call('POST', '/api/devices', { body: { name: `Tern ${n}` } }),
    ),
  )
  const refused = replies.filter(({ status }) => status !== 201)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, body, headers } of refused) {
    expect([status, body.code, body.instance, body.requestId]).toEqual([
      503,
      'unavailable',
      '/api/devices',
      headers.get('X-Request-Id'),
    ])
    expect(Object.fromEntries(headers)).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
      'ratelimit-policy': expect.stringContaining('"account"'),
    })
  }
  const { body } = await account.call('GET', '/api/account')
  expect(body.account.licenses.used).toBe(replies.length - refused.length)
})

/** Starts requests without sending their bodies. */
const startRequests = (count: number, path: string, token = 'none', length: number | null = null) =>
  Array.from({ length: count }, () => {
    const { readable, writable } =
      length === null ? new IdentityTransformStream() : new FixedLengthStream(length)
    const headers = { 'Content-Type': 'application/json', Authorization: `Bearer ${token}` }
    const reply = exports.default.fetch(`${ORIGIN}${path}`, {
      method: 'POST',
      headers,
      body: readable,
    })
    return { writer: writable.getWriter(), reply, length }
  })
const largeBody = { name: 'Large', description: ' '.repeat(100_000) }
const pause = () => new Promise((resolve) => setTimeout(resolve, 50))
const finishRequests = async (slow: ReturnType<typeof startRequests>) => {
  for (const { writer, length } of slow) {
    if (length !== null) writer.write(new Uint8Array(length)).catch(() => {})
    writer.close().catch(() => {})
  }
  await Promise.allSettled(slow.map(({ reply }) => reply))
}

test.each([
  ['the server reads', '/api/Auth/Token', null],
  ['the server does not read, because the token is invalid', '/api/devices', 60_000],
])('requests that never send the body that %s do not block others', async (_, path, length) => {
  const account = await openAccount()
  const slow = startRequests(300, path, 'none', length)
  await pause()
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  await finishRequests(slow)
  expect((await call('GET', '/healthz')).status).toBe(200)
})

test('the number of large bodies in transfer is limited; small bodies are not affected', async () => {
  const account = await openAccount()
  const others = await Promise.all(Array.from({ length: 3 }, () => openAccount()))
  const slow = others.flatMap(({ token }) => startRequests(20, '/api/devices', token, 100_000))
  const sent = () => account.call('POST', '/api/devices', { body: largeBody })
  await eventually(async () => expect((await sent()).status).toBe(503))
  expect((await sent()).headers.get('Retry-After')).toBe('1')
  expect((await account.call('POST', '/api/devices', { body: { name: 'Small' } })).status).toBe(201)
  await finishRequests(slow)
  expect((await sent()).status).toBe(400)
})

test('the large bodies of one account do not block those of another', async () => {
  const [account, neighbour] = [await openAccount(), await openAccount()]
  const slow = startRequests(60, '/api/devices', account.token, 100_000)
  await eventually(async () =>
    expect((await account.call('POST', '/api/devices', { body: largeBody })).status).toBe(503),
  )
  expect((await neighbour.call('POST', '/api/devices', { body: largeBody })).status).toBe(400)
  await finishRequests(slow)
})

test('a refused request without Content-Length is answered before its body ends', async () => {
  const { readable, writable } = new IdentityTransformStream()
  const reply = exports.default.fetch(`${ORIGIN}/api/devices`, { method: 'POST', body: readable })
  const writer = writable.getWriter()
  expect((await reply).status).toBe(401)
  writer.close().catch(() => {})
})
