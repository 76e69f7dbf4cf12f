import { evictDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { afterEach, describe, expect, test, vi } from 'vitest'
import { MAX_TOTAL_UNACKED_BYTES, MAX_UNACKED_EVENTS } from '../../../src/domain/event/stream.ts'
import { makeAck, readAck } from '../../../src/feed/streams/ack.ts'
import { unackedOf } from '../../../src/feed/streams/subscriber.ts'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createDevice } from '../../support/devices.ts'
import { headOf, logLargeReports, logWithoutPoke } from '../../support/feed/events.ts'
import { feedStub, passTime } from '../../support/feed/feed.ts'
import { type Listener, listen, subscribersOf, upgrade } from '../../support/feed/streams.ts'
import { eventually } from '../../support/time.ts'

afterEach(() => {
  vi.useRealTimers()
})

/** One event of `logLargeReports`. A limit may be exceeded by the last event. */
const LARGE_EVENT_BYTES = 70_000
const SILENT = { query: '?after=0', acknowledges: false }

const acknowledge = (stream: Listener, ack = stream.acks.at(-1)) =>
  stream.send({ type: 'ack', ack })

/** The bytes that all sockets of the account were sent and have not acknowledged. */
const bytesInFlight = async (account: TestAccount): Promise<number> =>
  (await subscribersOf(account)).reduce((sum, one) => sum + unackedOf(one).bytes, 0)

/** Waits until the feed sends nothing more. */
const waitForQuiet = async (account: TestAccount): Promise<number> => {
  let before = -1
  return eventually(async () => {
    const bytes = await bytesInFlight(account)
    const isQuiet = bytes === before
    before = bytes
    expect(isQuiet, 'still sending').toBe(true)
    return bytes
  }, 300)
}

const accountWithLargeEvents = async (count: number) => {
  const account = await openAccount()
  await logLargeReports(account, await createDevice(account, 'Tern'), count)
  return { account, head: await headOf(account) }
}

describe('an ack', () => {
  test('is in every message with events, and differs from stream to stream', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 250)
    const head = await headOf(account)
    const streams = await Promise.all([listen(account, SILENT), listen(account, SILENT)])
    await Promise.all(streams.map((stream) => stream.waitForEvents(head)))
    const acks = streams.flatMap((stream) => stream.acks)
    expect(acks).toHaveLength(6)
    expect(new Set(acks)).toHaveLength(6)
    for (const ack of acks) expect(ack).toMatch(/^\S{20,64}$/)
  })

  test('of another stream closes the stream', async () => {
    const account = await openAccount()
    const [one, other] = [await listen(account), await listen(account)]
    await createDevice(account, 'Tern')
    await Promise.all([one.waitForEvents(1), other.waitForEvents(1)])
    acknowledge(one, other.acks[0])
    expect((await one.waitForClose()).code).toBe(4400)
    expect(other.closed).toBeNull()
  })

  test('is bound to its stream, its progress and the secret of the service', async () => {
    const progress = { events: 100, bytes: 25_000 }
    const ack = await makeAck(env, 'stream-1', progress)
    expect(await readAck(env, 'stream-1', ack)).toEqual(progress)
    const signature = ack.split('.')[2]
    const others = [
      await makeAck(env, 'stream-2', progress),
      await makeAck({ ...env, TOKEN_SECRET: `${env.TOKEN_SECRET}!` }, 'stream-1', progress),
      `200.50000.${signature}`,
      `100.25001.${signature}`,
      `NaN.NaN.${signature}`,
      `0${ack}`,
      `${ack} `,
      `${ack}.1`,
      ack.slice(0, -1),
      '100.25000',
      '',
    ]
    for (const other of others) expect(await readAck(env, 'stream-1', other), other).toBeNull()
  })

  test('cannot be guessed: fifty guesses close fifty streams, and nothing more is sent', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, MAX_UNACKED_EVENTS + 100)
    const known = await listen(account, SILENT)
    await known.waitForEvents(MAX_UNACKED_EVENTS)
    const [events, bytes, signature = ''] = (known.acks.at(-1) ?? '').split('.')
    const guesses = Array.from({ length: 50 }, (_, n) =>
      n % 2 === 0
        ? `${n * 100}.${n * 25_000}.${signature}`
        : `${events}.${bytes}.${String(n).padStart(signature.length, 'a')}`,
    )
    for (const guess of guesses) {
      const stream = await listen(account, SILENT)
      await stream.waitForEvents(MAX_UNACKED_EVENTS)
      acknowledge(stream, guess)
      expect((await stream.waitForClose()).code).toBe(4400)
      expect(stream.events).toHaveLength(MAX_UNACKED_EVENTS)
    }
  })

  test('speaks for all messages before its own; repeated or older ones change nothing', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 450)
    const head = await headOf(account)
    const stream = await listen(account, SILENT)
    await stream.waitForEvents(head)
    acknowledge(stream, stream.acks[2])
    await eventually(async () =>
      expect(await subscribersOf(account)).toMatchObject([{ acked: { events: 300 } }]),
    )
    for (const ack of [stream.acks[0], stream.acks[2]]) acknowledge(stream, ack)
    stream.send('{"type":"ping"}')
    await stream.until(() => expect(stream.messages.at(-1)).toEqual({ type: 'pong' }))
    expect(await subscribersOf(account)).toMatchObject([{ acked: { events: 300 } }])
    acknowledge(stream)
    await eventually(async () =>
      expect(await subscribersOf(account)).toMatchObject([
        { acked: { events: head }, unackedSince: null },
      ]),
    )
    expect(stream.closed).toBeNull()
  })

  test('is valid after the feed has hibernated, and more events follow', async () => {
    const account = await openAccount()
    await logWithoutPoke(account, 1100)
    const head = await headOf(account)
    const stream = await listen(account, SILENT)
    await stream.waitForEvents(1000)
    await evictDurableObject(feedStub(account))
    acknowledge(stream)
    await stream.waitForEvents(head)
    expect(stream.closed).toBeNull()
  })
})

describe('the bytes in flight of all streams together', () => {
  test('are limited: further streams wait until others acknowledge, and get every event', async () => {
    const { account, head } = await accountWithLargeEvents(40)
    const streams = await Promise.all(Array.from({ length: 14 }, () => listen(account, SILENT)))
    const bytes = await waitForQuiet(account)
    expect(bytes).toBeGreaterThan(MAX_TOTAL_UNACKED_BYTES / 2)
    expect(bytes).toBeLessThan(MAX_TOTAL_UNACKED_BYTES + LARGE_EVENT_BYTES)
    await eventually(async () => {
      for (const stream of streams) if (stream.acks.length > 0) acknowledge(stream)
      expect(await bytesInFlight(account)).toBeLessThan(MAX_TOTAL_UNACKED_BYTES + LARGE_EVENT_BYTES)
      for (const stream of streams) expect(stream.events).toHaveLength(head)
    }, 50)
  })

  test('leave something to others while a few streams do not read', async () => {
    const { account, head } = await accountWithLargeEvents(40)
    await Promise.all(Array.from({ length: 6 }, () => listen(account, SILENT)))
    await waitForQuiet(account)
    const reading = await listen(account, { query: '?after=0' })
    await reading.waitForEvents(head)
    await createDevice(account, 'Petrel')
    await reading.waitForEvents(head + 1)
  })

  test('count what a closed stream was sent until its connection ends', async () => {
    const { account, head } = await accountWithLargeEvents(40)
    const openUnread = async () => {
      const { webSocket } = await upgrade('/api/stream?after=0', {
        'Sec-WebSocket-Protocol': `perigee, bearer.${account.token}`,
      })
      return webSocket as WebSocket
    }
    const unread = await Promise.all(Array.from({ length: 20 }, openUnread))
    const full = await waitForQuiet(account)
    await passTime(account, 31_000)
    vi.useRealTimers()
    const reading = await listen(account, { query: '?after=0' })
    expect(await waitForQuiet(account)).toBe(full)
    expect(reading.events).toEqual([])
    for (const socket of unread) {
      socket.accept()
      socket.close()
    }
    await reading.waitForEvents(head)
  })
})
