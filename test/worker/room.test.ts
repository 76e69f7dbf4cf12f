import { exports } from 'cloudflare:workers'
import { expect, test } from 'vitest'
import { call, ORIGIN, openAccount } from './support.ts'

test('a hundred at once are all served', async () => {
  const account = await openAccount()
  const replies = await Promise.all(Array.from({ length: 100 }, () => account.call('GET', '/api/devices')))
  expect(new Set(replies.map(({ status }) => status))).toEqual(new Set([200]))
})

test('of far too many at once some are told to come back, of whom nothing is stored, and then all is as before', async () => {
  const account = await openAccount({ licenses: 1000 })
  const replies = await Promise.all(
    Array.from({ length: 400 }, (_, n) => account.call('POST', '/api/devices', { body: { name: `Tern ${n}` } })),
  )
  const refused = replies.filter(({ status }) => status !== 201)
  expect(refused.length).toBeGreaterThan(0)
  for (const { status, body, headers } of refused) {
    expect([status, body.code, body.instance, body.requestId]).toEqual([503, 'unavailable', '/api/devices', headers.get('X-Request-Id')])
    expect(Object.fromEntries(headers)).toMatchObject({
      'retry-after': '1',
      'content-type': 'application/problem+json',
      'cache-control': 'no-store',
      'access-control-allow-origin': '*',
      'x-content-type-options': 'nosniff',
    })
  }
  const { body } = await account.call('GET', '/api/account')
  expect(body.account.licenses.used).toBe(replies.length - refused.length)
})

test('those whose bodies never come keep nobody out', async () => {
  const account = await openAccount()
  const slow = Array.from({ length: 300 }, () => {
    const { readable, writable } = new IdentityTransformStream()
    const reply = exports.default.fetch(`${ORIGIN}/api/Auth/Token`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: readable,
    })
    return { writer: writable.getWriter(), reply }
  })
  await new Promise((resolve) => setTimeout(resolve, 50))
  expect((await account.call('GET', '/api/account')).status).toBe(200)
  for (const { writer } of slow) writer.close().catch(() => {})
  for (const { reply } of slow) expect([400, 503]).toContain((await reply).status)
  expect((await call('GET', '/healthz')).status).toBe(200)
})
