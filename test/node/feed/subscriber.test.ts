import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ACK_TIMEOUT_MS,
  MAX_TOTAL_UNACKED_BYTES,
  MAX_UNACKED_BYTES,
  MAX_UNACKED_EVENTS,
  readMessage,
} from '../../../src/domain/event/stream.ts'
import type { LoggedEvent } from '../../../src/events/store.ts'
import type { Progress } from '../../../src/feed/streams/ack.ts'
import {
  acknowledge,
  advance,
  hasCapacity,
  type LogRange,
  maxUnackedBytes,
  memoizeEventText,
  newSubscriber,
  nextDeadline,
  type Subscriber,
  selectEvents,
  unackedOf,
} from '../../../src/feed/streams/subscriber.ts'

const claims: Subscriber['claims'] = {
  accountId: 'acc_1',
  cell: 0,
  keyId: 'key_1',
  scopes: ['read'],
  userId: null,
  exp: 1e9,
}
const subscriberAt = (sent: number, types: readonly string[] = []): Subscriber =>
  newSubscriber(claims, null, { types, devices: [], groups: [] }, sent)

const eventAt = (sequence: number): LoggedEvent => ({
  id: `evt_${sequence}`,
  sequence,
  accountId: 'acc_1',
  type: sequence % 3 === 0 ? 'key.created' : 'device.updated',
  time: 0,
  deviceId: null,
  groups: [],
  data: {},
  location: null,
})

const logOf = (length: number) => Array.from({ length }, (_, n) => eventAt(n + 1))

interface Message {
  /** What acknowledging the message says. */
  progress: Progress
  events: { sequence: number; text: string }[]
}

/** A client of a stream: sends itself what the service would send, and keeps what it got. */
class Client {
  subscriber: Subscriber
  readonly messages: Message[] = []

  constructor(subscriber: Subscriber) {
    this.subscriber = subscriber
  }

  get sequences(): number[] {
    return this.messages.flatMap(({ events }) => events.map(({ sequence }) => sequence))
  }

  get unacked() {
    return unackedOf(this.subscriber)
  }

  canRead(maxBytes = MAX_UNACKED_BYTES): boolean {
    return hasCapacity(this.subscriber, maxBytes)
  }

  /** `sizeOf` makes an event as large as wanted. */
  read(
    range: LogRange,
    { now = 1, maxBytes = MAX_UNACKED_BYTES, sizeOf = (_: number): number => 1 } = {},
  ) {
    const textOf = ({ sequence }: LoggedEvent) => {
      const text = JSON.stringify({ sequence, text: 'x'.repeat(sizeOf(sequence)) })
      return { text, bytes: text.length }
    }
    const selection = selectEvents(this.subscriber, { range, textOf, maxBytes })
    const after = advance(this.subscriber, selection, now)
    this.subscriber = after.subscriber
    for (const [index, progress] of after.progress.entries())
      this.messages.push({ progress, events: JSON.parse(`[${selection.messages[index]?.text}]`) })
  }

  acknowledge(index: number, now = 1): void {
    const { progress } = this.messages.at(index) ?? {}
    if (progress) this.subscriber = acknowledge(this.subscriber, progress, now)
  }
}

const all = (events: LoggedEvent[]): LogRange => ({ from: 0, to: events.length, events })
const bytesOf = ({ events }: Pick<Message, 'events'>): number =>
  events.reduce((sum, event) => sum + JSON.stringify(event).length, 0)

describe('a subscriber', () => {
  test('gets the events it wants once and in order, never more than allowed beyond the last acknowledged', () => {
    const step = fc.oneof(
      fc.record({ read: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ ack: fc.double({ min: 0, max: 0.999, noNaN: true }) }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom([], ['key.*'], ['device.*']),
        fc.array(step, { maxLength: 40 }),
        (types, steps) => {
          const log = logOf(3000)
          const client = new Client(subscriberAt(0, types))
          let acked = -1
          for (const given of steps) {
            if ('ack' in given) {
              const index = Math.floor(given.ack * client.messages.length)
              client.acknowledge(index)
              acked = Math.max(acked, Math.min(index, client.messages.length - 1))
            } else if (client.canRead()) {
              const from = client.subscriber.readUpTo
              const to = Math.min(log.length, from + given.read)
              client.read({ from, to, events: log.slice(from, to) })
            }
            const unacked = client.messages.slice(acked + 1)
            expect(client.unacked).toEqual({
              events: unacked.flatMap(({ events }) => events).length,
              bytes: unacked.map(bytesOf).reduce((sum, one) => sum + one, 0),
            })
            expect(client.unacked.events).toBeLessThanOrEqual(MAX_UNACKED_EVENTS)
            expect(client.subscriber.unackedSince === null).toBe(unacked.length === 0)
          }
          const wanted = log.filter(
            ({ type }) => types.length === 0 || type.startsWith((types[0] ?? '').slice(0, -1)),
          )
          const { sequences } = client
          expect(sequences).toEqual(
            wanted.slice(0, sequences.length).map(({ sequence }) => sequence),
          )
          expect(
            wanted.filter(({ sequence }) => sequence <= client.subscriber.readUpTo),
          ).toHaveLength(sequences.length)
        },
      ),
    )
  })

  test('gets about 2 MB of large events beyond the last acknowledged, and all events in the end', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(sizes, (sizes) => {
        const log = logOf(sizes.length)
        const client = new Client(subscriberAt(0))
        const sizeOf = (sequence: number) => sizes[sequence - 1] ?? 0
        while (client.subscriber.readUpTo < log.length) {
          const from = client.subscriber.readUpTo
          client.read({ from, to: log.length, events: log.slice(from) }, { sizeOf })
          const last = client.messages.at(-1)?.events.at(-1)
          const lastBytes = bytesOf({ events: last ? [last] : [] })
          expect(client.unacked.bytes - lastBytes).toBeLessThan(MAX_UNACKED_BYTES)
          client.acknowledge(-1)
        }
        expect(client.sequences).toEqual(log.map(({ sequence }) => sequence))
      }),
      { numRuns: 30 },
    )
  })

  test('has full capacity and no deadline after acknowledging everything', () => {
    const client = new Client(subscriberAt(0))
    client.read(all(logOf(1500)), { now: 5 })
    expect([client.unacked.events, client.subscriber.readUpTo, client.canRead()]).toEqual([
      MAX_UNACKED_EVENTS,
      MAX_UNACKED_EVENTS,
      false,
    ])
    expect(nextDeadline(client.subscriber)).toBe(5 + ACK_TIMEOUT_MS)
    client.acknowledge(-1, 9)
    expect([client.unacked, client.subscriber.unackedSince, client.canRead()]).toEqual([
      { events: 0, bytes: 0 },
      null,
      true,
    ])
  })

  test('gets more time by acknowledging a newer message, not by repeating an acknowledgement', () => {
    const client = new Client(subscriberAt(0))
    client.read(all(logOf(250)), { now: 5 })
    client.acknowledge(1, 20)
    expect(client.subscriber).toMatchObject({ acked: { events: 200 }, unackedSince: 20 })
    for (const index of [0, 1]) client.acknowledge(index, 30)
    expect(client.subscriber).toMatchObject({ acked: { events: 200 }, unackedSince: 20 })
  })

  test('gets at most a hundred events in one message', () => {
    const client = new Client(subscriberAt(0))
    client.read(all(logOf(250)))
    expect(client.messages.map(({ events }) => events.length)).toEqual([100, 100, 50])
  })

  test('counts bytes, not characters', () => {
    const textOf = memoizeEventText()
    const event = { ...eventAt(1), data: { name: 'Ægir — 🛰' } }
    const { text, bytes } = textOf(event)
    expect(bytes).toBe(text.length + 5)
    expect(textOf(event).text).toBe(text)
  })
})

test('subscribers that do not acknowledge never have more than 16 MB in flight together', () => {
  fc.assert(
    fc.property(
      fc.array(fc.integer({ min: 1, max: 5_000_000 }), { maxLength: 60 }),
      fc.integer({ min: 1, max: 70_000 }),
      (wanted, eventBytes) => {
        let total = 0
        for (const want of wanted) {
          const maxBytes = maxUnackedBytes(MAX_TOTAL_UNACKED_BYTES - total)
          for (let bytes = 0; bytes < Math.min(want, maxBytes); bytes += eventBytes)
            total += eventBytes
          expect(total).toBeLessThan(MAX_TOTAL_UNACKED_BYTES + eventBytes)
        }
      },
    ),
  )
  expect(maxUnackedBytes(MAX_TOTAL_UNACKED_BYTES)).toBe(MAX_UNACKED_BYTES)
  expect(maxUnackedBytes(1_000_001)).toBe(500_000)
  expect(maxUnackedBytes(1)).toBeGreaterThan(0)
  expect([maxUnackedBytes(0), maxUnackedBytes(-1)]).toEqual([0, 0])
})

test.each([
  ['{"type":"ack","ack":"x"}', { type: 'ack', ack: 'x' }],
  ['{"type":"token","token":"x.y.z"}', { type: 'token', token: 'x.y.z' }],
  ['{"type":"ack","ack":3}', null],
  ['{"type":"ack","sequence":3}', null],
  ['{"type":"ack","ack":"x","sequence":3}', null],
  ['{"type":"ack"}', null],
  ['{"type":"ack","ack":"x","token":"x"}', null],
  ['{"type":"token","token":"x","ack":"x"}', null],
  ['{"type":"token"}', null],
  ['{"type":"ack","ack":"x","more":1}', null],
  ['[]', null],
  ['null', null],
  ['', null],
  ['{', null],
  [new ArrayBuffer(3), null],
  [`{"type":"token","token":"${'x'.repeat(9000)}"}`, null],
])('the message %s is parsed as %o', (message, expected) => {
  expect(readMessage(message)).toEqual(expected)
})
