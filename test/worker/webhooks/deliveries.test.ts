import { evictDurableObject, runDurableObjectAlarm, runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { Webhook } from 'standardwebhooks'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { migrate } from '../../../src/db/objectMigrations.ts'
import { event as anyEvent } from '../../../src/events/catalogue.ts'
import { migrateTables, STEPS } from '../../../src/feed/tables.ts'
import { sweep } from '../../../src/sweep/sweep.ts'
import { eraseAccount, openAccount } from '../../support/accounts.ts'
import { waitUntilSent } from '../../support/alerts/messages.ts'
import { createDevice } from '../../support/devices.ts'
import { from, headOf, logWithoutPoke } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import { createWebhook, deliveriesOf, MINUTE_MS, receiver } from '../../support/feed/webhooks.ts'
import { daysAgo, eventually, iso } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('deliveries', () => {
  test('events are sent in the form of the log, with a signature that the scheme’s library verifies', async () => {
    const account = await openAccount()
    const target = receiver()
    const { secret, webhook } = await createWebhook(account, { url: target.url() })
    expect(secret).toMatch(/^whsec_[A-Za-z0-9+/]{43}=$/)
    await createDevice(account, 'Tern')
    const [call] = await target.waitForCalls(1)
    if (!call) throw new Error('no call')
    const verified = new Webhook(secret).verify(call.body, call.headers) as { events: unknown[] }
    expect(verified.events).toEqual(
      (await account.call('GET', '/api/events?types=device.*')).body.events,
    )
    expect(call.headers).toMatchObject({
      'content-type': 'application/json',
      'user-agent': 'Perigee-Webhooks/1',
    })
    const [delivery] = await deliveriesOf(account, webhook.id)
    expect(delivery).toMatchObject({
      id: call.headers['webhook-id'],
      status: 'delivered',
      attempts: 1,
      responseCode: 200,
      answer: 'thank you',
      failure: null,
    })
    expect(() => new Webhook(secret).verify(`${call.body} `, call.headers)).toThrow()
    expect(() =>
      new Webhook('whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw').verify(call.body, call.headers),
    ).toThrow()
  })

  test('a slow receiver gets events in sequence and in batches', async () => {
    const account = await openAccount()
    const target = receiver()
    const head = await headOf(account)
    await createWebhook(account, { url: target.url('slow-50') })
    await logWithoutPoke(account, 349)
    await createDevice(account, 'Last')
    await eventually(async () =>
      expect((await target.calls()).flatMap(({ events }) => events)).toHaveLength(350),
    )
    const calls = await target.calls()
    expect(calls.flatMap(({ events }) => events.map(({ sequence }) => sequence))).toEqual(
      from(head + 1, head + 350),
    )
    expect(Math.max(...calls.map(({ events }) => events.length))).toBe(100)
    expect(calls.length).toBeLessThan(10)
  })

  test('a burst of a hundred events is sent in sequence, each event once, one call at a time', async () => {
    const account = await openAccount({ licenses: 200 })
    const target = receiver()
    const head = await headOf(account)
    await createWebhook(account, { url: target.url('slow-20'), events: ['device.created'] })
    await Promise.all(Array.from({ length: 100 }, (_, n) => createDevice(account, `Tern ${n}`)))
    await eventually(async () =>
      expect((await target.calls()).flatMap(({ events }) => events)).toHaveLength(100),
    )
    const calls = await target.calls()
    expect(calls.flatMap(({ events }) => events.map(({ sequence }) => sequence))).toEqual(
      from(head + 1, head + 100),
    )
    for (const [n, { at: time }] of calls.entries())
      if (n > 0) expect(time - (calls[n - 1]?.at ?? 0)).toBeGreaterThanOrEqual(100)
  })

  test('events are filtered by types with wildcards, devices and groups', async () => {
    const account = await openAccount()
    const [a, b] = [await createDevice(account, 'A'), await createDevice(account, 'B')]
    const group = (
      await account.call('POST', '/api/groups', { body: { name: 'North', devices: [b] } })
    ).body.id
    const filters = {
      types: { events: ['key.*', 'device.deleted'] },
      device: { devices: [a] },
      group: { groups: [group], events: ['device.*'] },
      either: { devices: [a], groups: [group] },
    }
    const targets = Object.fromEntries(Object.keys(filters).map((name) => [name, receiver()]))
    for (const [name, filter] of Object.entries(filters))
      await createWebhook(account, { url: targets[name]?.url(), ...filter })
    await account.call('PATCH', `/api/devices/${a}`, { body: { description: 'x' } })
    await account.call('PATCH', `/api/devices/${b}`, { body: { description: 'x' } })
    await account.call('DELETE', `/api/devices/${b}`)
    await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    const expected = {
      types: ['device.deleted B', 'key.created K'],
      device: ['device.updated A'],
      group: ['device.updated B', 'device.deleted B'],
      either: ['device.updated A', 'device.updated B', 'device.deleted B'],
    }
    for (const [name, events] of Object.entries(expected)) {
      await eventually(async () => {
        const received = (await targets[name]?.calls())?.flatMap((call) => call.events) ?? []
        expect(
          received.map(({ type, data }) => `${type} ${data.name}`),
          name,
        ).toEqual(events)
      })
    }
  })

  test('every type of event is sent in the form of the catalogue', async () => {
    const account = await openAccount({ licenses: 1 })
    const target = receiver()
    await createWebhook(account, { url: target.url() })
    await account.call('POST', '/api/users', {
      body: { name: 'Ana', email: 'ana@example.com', country: 'PT', timeZone: 'UTC' },
    })
    const device = await createDevice(account, 'Tern')
    const path = `/api/devices/${device}`
    await account.call('PATCH', path, { body: { limits: { dailyEmailLimit: 1 } } })
    await account.call('POST', `${path}/locations`, {
      body: { dateTime: iso(daysAgo(1)), latitude: 1, longitude: 2, source: 'gnss' },
    })
    const { alert } = (
      await account.call('POST', `${path}/alerts`, { body: { alertName: 'SOSButton' } })
    ).body
    await account.call('POST', `${path}/alerts`, { body: { alertName: 'LowBattery' } })
    await account.call('POST', `/api/alerts/${alert.id}/acknowledge`)
    // Once the device is deleted, its queued messages are not sent.
    await waitUntilSent(account)
    await account.call('PATCH', path, {
      body: { limits: { expires: true, expirationDate: '2020-01-01' } },
    })
    await account.call('POST', `${path}/reactivate`)
    await account.call('DELETE', path)
    const { key } = (
      await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    ).body
    await account.call('DELETE', `/api/account/keys/${key.id}`)
    const types = [
      'device.created',
      'device.updated',
      'location.reported',
      'alert.raised',
      'alert.acknowledged',
      'message.sent',
      'message.suppressed',
      'limit.reached',
      'device.expired',
      'device.reactivated',
      'device.deleted',
      'license.exhausted',
      'license.available',
      'key.created',
      'key.revoked',
    ]
    await eventually(async () => {
      const events = (await target.calls()).flatMap((call) => call.events)
      for (const event of events)
        expect(anyEvent.safeParse(event), JSON.stringify(event)).toMatchObject({
          success: true,
          data: event,
        })
      expect([...new Set(events.map(({ type }) => type))].sort()).toEqual(types.sort())
      expect(events.map(({ sequence }) => sequence)).toEqual(
        from(events[0]?.sequence, events[0]?.sequence + events.length - 1),
      )
    })
  })
})

describe('recovery', () => {
  test('crashes during calls and retries lose no event', async () => {
    const account = await openAccount({ licenses: 100 })
    const target = receiver()
    const head = await headOf(account)
    const { webhook } = await createWebhook(account, {
      url: target.url('slow-30'),
      events: ['device.created'],
    })
    const requests = Array.from({ length: 30 }, (_, n) => createDevice(account, `Tern ${n}`))
    for (let crash = 0; crash < 4; crash++) {
      await new Promise((resolve) => setTimeout(resolve, 60))
      await runInDurableObject(feedStub(account), (_, state) => state.abort('crash')).catch(
        () => {},
      )
    }
    await Promise.all(requests)
    await eventually(async () => {
      vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
      await runDurableObjectAlarm(feedStub(account))
      const sequences = (await target.calls()).flatMap(({ events }) =>
        events.map(({ sequence }) => sequence),
      )
      expect([...new Set(sequences)]).toEqual(from(head + 1, head + 30))
      const statuses = (await deliveriesOf(account, webhook.id)).map(({ status }) => status)
      expect(new Set(statuses)).toEqual(new Set(['delivered']))
    }, 200)
  })

  test('a call that a crash interrupts is repeated after a minute', async () => {
    const account = await openAccount()
    const target = receiver()
    const { webhook } = await createWebhook(account, {
      url: target.url('slow-1000'),
      events: ['device.created'],
    })
    await createDevice(account, 'Tern')
    await target.waitForCalls(1)
    await runInDurableObject(feedStub(account), (_, state) => state.abort('crash')).catch(() => {})
    await passTime(account, MINUTE_MS + 1000)
    await target.waitForCalls(2)
    await eventually(async () =>
      expect(await deliveriesOf(account, webhook.id)).toMatchObject([{ status: 'delivered' }]),
    )
  })

  test('after a lost poke and an eviction the alarm delivers the events', async () => {
    const account = await openAccount()
    const target = receiver()
    await createWebhook(account, { url: target.url() })
    await createDevice(account, 'First')
    await target.waitForCalls(1)
    await evictDurableObject(feedStub(account))
    await logWithoutPoke(account, 2)
    await passTime(account, 6 * MINUTE_MS)
    await target.waitForCalls(2)
    expect((await target.calls()).flatMap(({ events }) => events)).toHaveLength(3)
  })

  test('erasing an account deletes everything in its feed, secrets included', async () => {
    const account = await openAccount()
    const target = receiver()
    await createWebhook(account, { url: target.url() })
    await createDevice(account, 'First')
    await target.waitForCalls(1)
    await eraseAccount(account)
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 61_000 })
    await sweep(env, Date.now())
    const stored = await runInDurableObject(feedStub(account), async (_, { storage }) => [
      await storage.getAlarm(),
      ...['feed_state', 'secrets', 'webhook_workers', 'deliveries'].flatMap((table) =>
        storage.sql.exec(`SELECT * FROM ${table}`).toArray(),
      ),
    ])
    expect(stored).toEqual([null])
    const { results } = await env.DB.prepare('SELECT id FROM webhooks WHERE account_id = ?')
      .bind(account.id)
      .all()
    expect(results).toEqual([])
  })

  test('a feed with the old names of tables keeps its data', async () => {
    const stub = env.FEED.get(env.FEED.newUniqueId())
    const rows = await runInDurableObject(stub, async (_, { storage }) => {
      await storage.deleteAll()
      migrate(storage, STEPS.slice(0, 2))
      const { sql } = storage
      sql.exec(`INSERT INTO owner (account_id, cell, news_at) VALUES ('acc_1', 0, 7)`)
      sql.exec(`INSERT INTO couriers (webhook_id, cursor, since, url) VALUES ('whk_1', 5, 1, '')`)
      sql.exec(`INSERT INTO deliveries (id, webhook_id, sequences, status, by_hand, creation)
        VALUES ('dlv_1', 'whk_1', '[5]', 'pending', 2, 0)`)
      migrateTables(storage)
      return [
        sql.exec('SELECT account_id, last_event_at FROM feed_state').one(),
        sql.exec('SELECT webhook_id, cursor FROM webhook_workers').one(),
        sql.exec('SELECT id, manual_attempts FROM deliveries').one(),
      ]
    })
    expect(rows).toEqual([
      { account_id: 'acc_1', last_event_at: 7 },
      { webhook_id: 'whk_1', cursor: 5 },
      { id: 'dlv_1', manual_attempts: 2 },
    ])
  })
})
