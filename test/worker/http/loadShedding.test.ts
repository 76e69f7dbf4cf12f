import { exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { call, ORIGIN } from '../../support/http.ts'
import { eventually } from '../../support/time.ts'

test('a hundred at once are all served', async () => {
  const account = await openAccount()
  const replies = await Promise.all(
    Array.from({ length: 100 }, () => account.call('GET', '/api/devices')),
  )
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
})

test('of far too many at once some are told to come back, of whom nothing is stored, and then all is as before', async () => {
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

/** Requests that are begun, and whose bodies are kept back. */
const beginSlowly = (count: number, path: string, token = 'none', length: number | null = null) =>
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
const large = { name: 'Large', description: ' '.repeat(100_000) }
const moment = () => new Promise((resolve) => setTimeout(resolve, 50))
const end = async (slow: ReturnType<typeof beginSlowly>) => {
  for (const { writer, length } of slow) {
    if (length !== null) writer.write(new Uint8Array(length)).catch(() => {})
    writer.close().catch(() => {})
  }
  await Promise.allSettled(slow.map(({ reply }) => reply))
}

test.each([
  ['that is read', '/api/Auth/Token', null],
  ['that nobody reads, for the token is none', '/api/devices', 60_000],
])('those keep nobody out who never send a body %s', async (_, path, length) => {
  const account = await openAccount()
  const slow = beginSlowly(300, path, 'none', length)
  await moment()
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  await end(slow)
  expect((await call('GET', '/healthz')).status).toBe(200)
})

test('only so many large bodies are on their way at once, and small ones come in all the same', async () => {
  const account = await openAccount()
  const others = await Promise.all(Array.from({ length: 3 }, () => openAccount()))
  const slow = others.flatMap(({ token }) => beginSlowly(20, '/api/devices', token, 100_000))
  const sent = () => account.call('POST', '/api/devices', { body: large })
  await eventually(async () => expect((await sent()).status).toBe(503))
  expect((await sent()).headers.get('Retry-After')).toBe('1')
  expect((await account.call('POST', '/api/devices', { body: { name: 'Small' } })).status).toBe(201)
  await end(slow)
  expect((await sent()).status).toBe(400)
})

test('one account’s large bodies leave room for another’s', async () => {
  const [account, neighbour] = [await openAccount(), await openAccount()]
  const slow = beginSlowly(60, '/api/devices', account.token, 100_000)
  await eventually(async () =>
    expect((await account.call('POST', '/api/devices', { body: large })).status).toBe(503),
  )
  expect((await neighbour.call('POST', '/api/devices', { body: large })).status).toBe(400)
  await end(slow)
})

test('a body that nobody asked for is not read whatever its length', async () => {
  const { readable, writable } = new IdentityTransformStream()
  const reply = exports.default.fetch(`${ORIGIN}/api/devices`, { method: 'POST', body: readable })
  const writer = writable.getWriter()
  expect((await reply).status).toBe(401)
  writer.close().catch(() => {})
})
