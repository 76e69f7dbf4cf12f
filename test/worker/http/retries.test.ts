import { env } from 'cloudflare:workers'
import { describe, expect, test } from 'vitest'
import { openAccount } from '../../support/accounts.ts'
import { callWithBindings, connectionLost, failExecutions } from '../../support/bindings.ts'
import { createDevice } from '../../support/devices.ts'

const newLocation = () => ({
  dateTime: new Date().toISOString(),
  latitude: 38.7,
  longitude: -9.1,
})

describe('after a transient error of the database', () => {
  test('a read is tried once more', async () => {
    const account = await openAccount()
    const deviceId = await createDevice(account)
    for (const [method, path, body] of [
      ['GET', '/api/devices', undefined],
      ['HEAD', `/api/devices/${deviceId}`, undefined],
      ['GET', `/api/devices/${deviceId}/locations`, undefined],
      ['GET', '/api/users', undefined],
      ['POST', `/api/devices/${deviceId}/locations`, { from: '2026-01-01T00:00:00Z' }],
      ['POST', `/api/devices/${deviceId}/alerts`, { from: '2026-01-01T00:00:00Z' }],
    ] as const) {
      for (const [times, status] of [
        [1, 200],
        [2, 503],
      ] as const) {
        const { db: DB, runs } = failExecutions(env.DB, { pattern: /devices|users|alerts/, times })
        const reply = await callWithBindings({ DB }, method, path, { token: account.token, body })
        const name = `${method} ${path}, ${times} times`
        expect(reply.status, name).toBe(status)
        expect(runs(), name).toBeGreaterThanOrEqual(2)
      }
    }
  })

  test('so is the check of a token, and the issue of one', async () => {
    const { userName, apiKey, token } = await openAccount()
    const failing = () =>
      failExecutions(env.DB, { pattern: /FROM "(keys|directory)"/, times: 1 }).db
    const read = await callWithBindings({ DB: failing() }, 'GET', '/api/account', { token })
    expect(read.status).toBe(200)
    const issued = await callWithBindings({ DB: failing() }, 'POST', '/api/Auth/Token', {
      body: { userName, apiKey },
    })
    expect(issued.status).toBe(200)
  })

  test('a request that is tried again counts once', async () => {
    const account = await openAccount()
    const left = (headers: Headers) => Number(/r=(\d+)/.exec(headers.get('RateLimit') ?? '')?.[1])
    const before = await account.call('GET', '/api/devices')
    const { db: DB } = failExecutions(env.DB, { pattern: /devices/, times: 1 })
    const { token } = account
    const after = await callWithBindings({ DB }, 'GET', '/api/devices', { token })
    expect(left(after.headers)).toBe(left(before.headers) - 1)
  })

  test('a report is tried once more, and stored once if the first try was committed', async () => {
    for (const isCommitted of [false, true]) {
      const account = await openAccount()
      await account.call('POST', '/api/webhooks', {
        body: { url: 'https://receiver.example/retries/ok', events: ['location.reported'] },
      })
      const path = `/api/devices/${await createDevice(account)}/locations`
      const pattern = /INSERT INTO "locations"/
      // The first report learns that someone subscribes.
      await account.call('POST', path, { body: newLocation() })
      const { db: DB, runs } = failExecutions(env.DB, { pattern, times: 1, isCommitted })
      const location = newLocation()
      const reply = await callWithBindings({ DB }, 'POST', path, {
        token: account.token,
        body: { location },
        headers: { 'Idempotency-Key': 'report' },
      })
      expect([reply.status, runs()], reply.text).toEqual([201, 2])
      expect(reply.body.locations).toMatchObject([location])
      const stored = await account.call('GET', `${path}?from=${location.dateTime}`)
      expect(stored.body.locations).toHaveLength(1)
      const { events } = (await account.call('GET', '/api/events?types=location.reported')).body
      expect(events.map(({ sequence }: { sequence: number }) => sequence)).toHaveLength(2)
    }
  })

  test('no other write is tried again', async () => {
    const account = await openAccount()
    const { id } = (await account.call('POST', '/api/groups', { body: { name: 'North' } })).body
    for (const [method, path, body, pattern] of [
      ['POST', '/api/groups', { name: 'South' }, /INSERT INTO "groups"/i],
      ['PUT', `/api/groups/${id}`, { name: 'West' }, /UPDATE "groups"/i],
      ['DELETE', `/api/groups/${id}`, undefined, /DELETE FROM "groups"/i],
      ['POST', '/api/account/keys', { name: 'k', scopes: ['read'] }, /INSERT INTO "keys"/i],
    ] as const) {
      const { db: DB, runs } = failExecutions(env.DB, { pattern, times: 1 })
      const reply = await callWithBindings({ DB }, method, path, { token: account.token, body })
      expect([reply.status, runs()], `${method} ${path}`).toEqual([503, 1])
    }
  })

  test('an Idempotency-Key is not claimed twice', async () => {
    const account = await openAccount()
    const path = `/api/devices/${await createDevice(account)}/locations`
    const { db: DB, runs } = failExecutions(env.DB, { pattern: /"idempotency/, times: 1 })
    const reply = await callWithBindings({ DB }, 'POST', path, {
      token: account.token,
      body: newLocation(),
      headers: { 'Idempotency-Key': 'once' },
    })
    expect([reply.status, runs()]).toEqual([503, 1])
  })

  test.each([
    ['an overloaded database', new Error('D1_ERROR: D1 DB is overloaded. Too many requests.'), 503],
    ['a query that timed out', new Error('D1_ERROR: storage operation exceeded timeout'), 503],
    ['a mistake of ours', new Error('D1_ERROR: no such column: x: SQLITE_ERROR'), 500],
  ])('%s is not asked again', async (_, error, status) => {
    const account = await openAccount()
    const { db: DB, runs } = failExecutions(env.DB, { pattern: /devices/, times: 1, error })
    const reply = await callWithBindings({ DB }, 'GET', '/api/devices', { token: account.token })
    expect([reply.status, runs()]).toEqual([status, 1])
  })
})

test('a read of a Durable Object that a deploy has reset is tried once more', async () => {
  const account = await openAccount()
  const ask = async (times: number, error: Error) => {
    let calls = 0
    const read = async () => {
      if (++calls <= times) throw error
      return env.LEDGER.get(env.LEDGER.idFromName(account.id)).readAccount()
    }
    const LEDGER = {
      idFromName: (name: string) => env.LEDGER.idFromName(name),
      get: () => ({ readAccount: read }),
    } as unknown as DurableObjectNamespace
    const { token } = account
    const { status } = await callWithBindings({ LEDGER }, 'GET', '/api/account', { token })
    return [status, calls]
  }
  const reset = Object.assign(new Error('The object was reset by a deploy.'), { retryable: true })
  expect(await ask(1, reset)).toEqual([200, 2])
  expect(await ask(2, reset)).toEqual([503, 2])
  expect(await ask(1, Object.assign(connectionLost(), { overloaded: true }))).toEqual([503, 1])
  expect(await ask(1, new Error('our own mistake'))).toEqual([500, 1])
})
