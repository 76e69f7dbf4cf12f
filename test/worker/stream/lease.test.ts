import { listDurableObjectIds } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { listen } from '../../support/feed/streams.ts'
import { daysAgo, eventually, iso } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('the listener lease', () => {
  const countLogged = async (account: TestAccount) =>
    (await account.call('GET', '/api/events?types=location.reported')).body.events.length
  const report = async (account: TestAccount, device: string, minute: number) => {
    const dateTime = iso(daysAgo(1) + minute * 60_000)
    const reply = await account.call('POST', `/api/devices/${device}/locations`, {
      body: { dateTime, latitude: 1, longitude: 2 },
    })
    expect(reply.status).toBe(201)
  }

  test('an account without subscribers has no feed', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await report(account, device, 1)
    await account.call('POST', '/api/account/keys', { body: { name: 'K', scopes: ['read'] } })
    const id = env.FEED.idFromName(account.id).toString()
    expect((await listDurableObjectIds(env.FEED)).map(String)).not.toContain(id)
  })

  test('a report is a batch of three statements, or of five with subscribers', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    await report(account, device, 1)
    const batch = vi.spyOn(env.DB, 'batch')
    /** The number of statements of each batch that stores a location. */
    const batchSizes = async (minute: number) => {
      batch.mockClear()
      await report(account, device, minute)
      const batches = batch.mock.calls.map(
        ([statements]) => statements as unknown as { statement: string }[],
      )
      return batches
        .filter((statements) =>
          statements.some(({ statement }) => /INTO "?locations/i.test(statement)),
        )
        .map((statements) => statements.length)
    }
    try {
      expect(await batchSizes(2)).toEqual([3])
      const stream = await listen(account)
      await batchSizes(3)
      await stream.waitForEvents(1)
      expect(await batchSizes(4)).toEqual([5])
      await stream.waitForEvents(2)
    } finally {
      batch.mockRestore()
    }
  })

  test('streams that open together do not shorten each other’s lease', async () => {
    const account = await openAccount()
    await env.DB.prepare(
      `CREATE TRIGGER shortened BEFORE UPDATE ON event_heads WHEN NEW.account_id = '${account.id}'
         AND (NEW.location_streams_until < OLD.location_streams_until OR NEW.streams_until < OLD.streams_until)
       BEGIN SELECT RAISE(ABORT, 'shortened'); END`,
    ).run()
    try {
      const queries = ['', '?types=alert.*', '', '?types=device.*']
      const streams = await Promise.all(queries.map((query) => listen(account, { query })))
      expect(streams.map(({ closed }) => closed)).toEqual([null, null, null, null])
      await report(account, await createDevice(account, 'Tern'), 1)
      expect(await countLogged(account)).toBe(1)
    } finally {
      await env.DB.prepare('DROP TRIGGER shortened').run()
    }
  })

  test('a report is logged only while a stream or an enabled webhook wants it', async () => {
    const account = await openAccount()
    const device = await createDevice(account, 'Tern')
    let minute = 0
    const countLoggedOfReport = async () => {
      const before = await countLogged(account)
      await report(account, device, minute++)
      return (await countLogged(account)) - before
    }
    expect(await countLoggedOfReport()).toBe(0)
    const others = await listen(account, { query: '?types=device.*' })
    expect(await countLoggedOfReport()).toBe(0)
    const stream = await listen(account)
    expect(await countLoggedOfReport()).toBe(1)
    stream.socket.close()
    others.socket.close()
    await eventually(async () => expect(await countLoggedOfReport()).toBe(0))
    const { webhook } = (
      await account.call('POST', '/api/webhooks', {
        body: { url: 'https://receiver.example/none/ok', events: ['device.*'] },
      })
    ).body
    expect(await countLoggedOfReport()).toBe(0)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { events: ['location.*'] } })
    expect(await countLoggedOfReport()).toBe(1)
    await account.call('PATCH', `/api/webhooks/${webhook.id}`, { body: { enabled: false } })
    expect(await countLoggedOfReport()).toBe(0)
  })
})
