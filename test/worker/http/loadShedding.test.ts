import { env, exports } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { holdBatches, serveWithBindings } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'
import { createWebhook, receiver } from '../../support/feed/webhooks.ts'
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

describe('large reports', () => {
  /** 100 KB in 14 locations. */
  const largeReport = () => ({
    locations: Array.from({ length: 14 }, (_, n) => ({
      dateTime: new Date(Date.UTC(2026, 0, 1) + n * 1000).toISOString(),
      latitude: 38.7,
      longitude: -9.1,
      attributes: { text: 'x'.repeat(7500) },
    })),
  })

  test('count until their request ends: 12 of an account and 24 in all', async () => {
    const { promise: gate, resolve: open } = Promise.withResolvers<void>()
    const DB = holdBatches(env.DB, gate)
    const reporters = await Promise.all(
      Array.from({ length: 3 }, async () => {
        const account = await openAccount()
        return { account, path: `/api/devices/${await createDevice(account)}/locations` }
      }),
    )
    const report = (reporter: number, body: object = largeReport()) => {
      const { account, path } = reporters[reporter] as (typeof reporters)[number]
      return serveWithBindings({ DB }, 'POST', path, { token: account.token, body })
    }
    const settled: number[] = []
    const start = (reporter: number, count: number) =>
      Array.from({ length: count }, async () => {
        const { status, headers } = await report(reporter)
        settled.push(status)
        return [status, headers.get('Retry-After')]
      })
    const first = start(0, 13)
    await eventually(() => expect(settled).toEqual([503]))
    const second = start(1, 13)
    await eventually(() => expect(settled).toEqual([503, 503]))
    expect(await Promise.all(start(2, 2))).toEqual([
      [503, '1'],
      [503, '1'],
    ])
    const { locations } = largeReport()
    const small = report(2, { location: { ...locations[0], attributes: {} } })
    open()
    const replies = await Promise.all([...first, ...second])
    expect(replies.filter(([status]) => status === 201)).toHaveLength(24)
    expect((await small).status).toBe(201)
    expect((await report(2)).status).toBe(201)
  })
})

test('webhook tests at a receiver that hangs do not shut other accounts out', async () => {
  const [account, other] = await Promise.all([openAccount(), openAccount()])
  const target = receiver()
  const { webhook } = await createWebhook(account, { url: target.url('held') })
  // As many as an account may send at once while a slow machine has fewer slots.
  const tests = Array.from({ length: 100 }, () =>
    account.call('POST', `/api/webhooks/${webhook.id}/test`),
  )
  await target.waitForCalls(1)
  for (let round = 0; round < 10; round++) {
    const replies = await Promise.all(
      Array.from({ length: 10 }, () => other.call('GET', '/api/account')),
    )
    expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
  }
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  await target.release()
  const statuses = (await Promise.all(tests)).map(({ status }) => status)
  expect(new Set(statuses)).toEqual(new Set([200]))
})

test('a refused request without Content-Length is answered before its body ends', async () => {
  const { readable, writable } = new IdentityTransformStream()
  const reply = exports.default.fetch(`${ORIGIN}/api/devices`, { method: 'POST', body: readable })
  const writer = writable.getWriter()
  expect((await reply).status).toBe(401)
  writer.close().catch(() => {})
})
