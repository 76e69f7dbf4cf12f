import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import type { AccountFeed } from '../../../src/feed/feed.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { from, headOf, logLargeReports, logWithoutPoke } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import {
  type Listener,
  listen,
  namesOf,
  subscribersOf,
  tokenExpiringIn,
} from '../../support/feed/streams.ts'
import { createWebhook, receiver } from '../../support/feed/webhooks.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

describe('a stream that is far behind', () => {
  const SNAPSHOT = -1
  /**
   * Records what the feed reads from its cell, in order: for a page of the log the number it starts
   * after, else SNAPSHOT. Each read waits for `gate`.
   */
  const spyOnFeed = (account: TestAccount, gate = async (_read: number) => {}) => {
    const batch = env.DB.batch.bind(env.DB)
    const reads: number[] = []
    const spy = vi.spyOn(env.DB, 'batch').mockImplementation(async (statements) => {
      const [{ statement, params }] = statements as unknown as [
        { statement: string; params: unknown[] },
      ]
      // The number that the page starts after is bound next to the account's id.
      const at = params.indexOf(account.id)
      const read = /\bbytes\b/.test(statement)
        ? Number(params[at + 1])
        : /SELECT "accounts"."status"/.test(statement)
          ? SNAPSHOT
          : null
      if (at !== -1 && read !== null) {
        reads.push(read)
        await gate(read)
      }
      return batch(statements)
    })
    return { reads, [Symbol.dispose]: () => spy.mockRestore() }
  }

  test('it reads 20 pages per poll, so that the feed does its other work in between', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 10_700)
    await logWithoutPoke(account, 1, 'limit.reached')
    using feed = spyOnFeed(account)
    const stream = await listen(account, { query: '?after=0&types=limit.reached' })
    await stream.waitForEvents(1)
    let pages = 0
    const pagesPerPoll = feed.reads.map((read) => {
      pages = read === SNAPSHOT ? 0 : pages + 1
      return pages
    })
    expect(feed.reads.length).toBeGreaterThan(22)
    expect(Math.max(...pagesPerPoll)).toBe(20)
  })

  test('it does not delay webhooks', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 5)
    const target = receiver()
    await createWebhook(account, { url: target.url() })
    const since = await headOf(account)
    let isOpen = false
    // The feed polls once the stream is open, and reads older events once the webhook was called.
    using _ = spyOnFeed(account, async (read) => {
      if (read === SNAPSHOT) await eventually(() => expect(isOpen).toBe(true))
      else if (read < since) await target.waitForCalls(1)
    })
    await logWithoutPoke(account, 1)
    const stream = await listen(account, { query: '?after=0' })
    isOpen = true
    await stream.waitForEvents(since + 1)
    expect(await target.calls()).toHaveLength(1)
  })
})

describe('acknowledging', () => {
  test('a stream that does not acknowledge in time is closed, and can resume', async () => {
    const account = await openAccount()
    const silent = await listen(account, { acknowledges: false })
    await createDevice(account, 'Tern 1')
    await silent.waitForEvents(1)
    await passTime(account, 29_000)
    expect(silent.closed).toBeNull()
    await passTime(account, 2_000)
    expect(await silent.waitForClose()).toEqual({
      code: 4408,
      reason: 'events were not acknowledged in time',
    })
    const [last = 0] = silent.sequences
    await createDevice(account, 'Tern 2')
    const resumed = await listen(account, { query: `?after=${last}` })
    await resumed.waitForEvents(1)
    expect(namesOf(resumed)).toEqual(['device.created Tern 2'])
  })

  test('a stream that has acknowledged everything stays open however long it is quiet', async () => {
    const account = await openAccount()
    const stream = await listen(account, { token: await tokenExpiringIn(account, 3000) })
    await createDevice(account, 'Tern')
    await stream.waitForEvents(1)
    // The acknowledgement must arrive before the clock moves.
    await eventually(async () =>
      expect(await subscribersOf(account)).toMatchObject([{ acked: { events: 1 } }]),
    )
    for (let round = 0; round < 5; round++) await passTime(account, 60_000)
    expect(stream.closed).toBeNull()
  })

  test('streams with the same filter acknowledge each its own events', async () => {
    const account = await openAccount()
    const query = '?types=device.created'
    const logUnwanted = async (name: string) => {
      await account.call('POST', '/api/account/keys', { body: { name, scopes: ['read'] } })
      const head = await headOf(account)
      await eventually(async () =>
        expect(
          (await subscribersOf(account)).filter(
            ({ readUpTo, unackedSince }) => readUpTo < head || unackedSince !== null,
          ),
        ).toEqual([]),
      )
    }
    const early = await listen(account, { query })
    await createDevice(account, 'Tern 1')
    await early.waitForEvents(1)
    await logUnwanted('K 1')
    const late = await listen(account, { query })
    await logUnwanted('K 2')
    await createDevice(account, 'Tern 2')
    await late.waitForEvents(1)
    expect(late.closed).toBeNull()
  })

  test('at most a thousand events are sent beyond the last acknowledged one', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 2200)
    const slow = await listen(account, { query: '?after=0', acknowledges: false })
    await slow.waitForEvents(1000)
    await slow.until(() => expect(slow.messages.length).toBeGreaterThan(10))
    await new Promise((resolve) => setTimeout(resolve, 200))
    expect(slow.events).toHaveLength(1000)
    slow.send({ type: 'ack', ack: slow.acks[3] })
    await slow.waitForEvents(1400)
    slow.send({ type: 'ack', ack: slow.acks.at(-1) })
    await slow.waitForEvents(2201)
    expect(slow.sequences).toEqual(from(1, 2201))
  })

  test('at most about 2 MB are sent beyond the last acknowledged event', async () => {
    const account = await openAccount()
    await logLargeReports(account, await createDevice(account, 'Tern'), 70)
    const head = await headOf(account)
    const slow = await listen(account, { query: '?after=0', acknowledges: false })
    await slow.waitForEvents(31)
    // With capacity, one poll would read to the end of the log. The pong comes after all events.
    await runInDurableObject(feedStub(account), (feed: AccountFeed) => feed.alarm())
    slow.send('{"type":"ping"}')
    await slow.until(() => expect(slow.messages.at(-1)).toEqual({ type: 'pong' }))
    expect(slow.events.length).toBeLessThan(40)
    while (slow.events.length < head) {
      slow.send({ type: 'ack', ack: slow.acks.at(-1) })
      await slow.waitForEvents(Math.min(head, slow.events.length + 20))
    }
    expect(slow.sequences).toEqual(from(1, head))
  })
})

test('each of a thousand streams gets an event once', async () => {
  const account = await openAccount()
  const streams: Listener[] = []
  while (streams.length < 1000)
    streams.push(...(await Promise.all(Array.from({ length: 50 }, () => listen(account)))))
  const firstMessages = streams.map(
    (stream) =>
      new Promise<void>((resolve) =>
        stream.socket.addEventListener('message', () => resolve(), { once: true }),
      ),
  )
  await createDevice(account, 'Tern')
  await Promise.all(firstMessages)
  expect(new Set(streams.map(({ events }) => JSON.stringify(events)))).toHaveLength(1)
  expect(streams[0]?.events).toHaveLength(1)
  for (const { socket } of streams) socket.close()
})
