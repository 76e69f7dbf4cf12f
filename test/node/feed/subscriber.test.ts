import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  ACK_TIMEOUT_MS,
  MAX_UNACKED_CHARS,
  MAX_UNACKED_EVENTS,
  readMessage,
} from '../../../src/domain/stream.ts'
import type { LoggedEvent } from '../../../src/events/store.ts'
import {
  acknowledge,
  hasCapacity,
  newSubscriber,
  nextDeadline,
  type Subscriber,
  selectEvents,
} from '../../../src/feed/subscriber.ts'

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
const sequencesIn = (messages: string[]): number[] =>
  messages.flatMap((message) =>
    JSON.parse(message).events.map(({ sequence }: LoggedEvent) => sequence),
  )

describe('a subscriber', () => {
  test('gets the events it wants once and in order, never more than allowed beyond the last acknowledged', () => {
    const step = fc.oneof(
      fc.record({ read: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ ack: fc.double({ min: 0, max: 1, noNaN: true }) }),
    )
    fc.assert(
      fc.property(
        fc.constantFrom([], ['key.*'], ['device.*']),
        fc.array(step, { maxLength: 40 }),
        (types, steps) => {
          const log = logOf(3000)
          let subscriber = subscriberAt(0, types)
          const received: number[] = []
          for (const given of steps) {
            if ('ack' in given) {
              const sequence = received[Math.floor(given.ack * received.length)]
              if (sequence !== undefined)
                subscriber = acknowledge(subscriber, sequence, 1) ?? subscriber
            } else if (hasCapacity(subscriber)) {
              const from = subscriber.readUpTo
              const to = Math.min(log.length, from + given.read)
              const selection = selectEvents(
                subscriber,
                { from, to, events: log.slice(from, to) },
                (event) => JSON.stringify(event),
                1,
              )
              received.push(...sequencesIn(selection.messages))
              subscriber = selection.subscriber
            }
            const unacknowledged = received.filter((sequence) => sequence > subscriber.acked).length
            expect(unacknowledged).toBeLessThanOrEqual(MAX_UNACKED_EVENTS)
            expect(subscriber.unacked).toBeGreaterThanOrEqual(unacknowledged)
            expect(subscriber.unackedSince === null).toBe(unacknowledged === 0)
          }
          const wanted = log.filter(
            ({ type }) => types.length === 0 || type.startsWith((types[0] ?? '').slice(0, -1)),
          )
          expect(received).toEqual(wanted.slice(0, received.length).map(({ sequence }) => sequence))
          expect(wanted.filter(({ sequence }) => sequence <= subscriber.readUpTo)).toHaveLength(
            received.length,
          )
        },
      ),
    )
  })

  test('gets about 2 MB of large events beyond the last acknowledged, and all events in the end', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(
        sizes,
        fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }),
        (sizes, acks) => {
          const log = logOf(sizes.length)
          const sizeOf = (sequence: number) => sizes[sequence - 1] ?? 0
          const received: number[] = []
          const textOf = ({ sequence }: LoggedEvent) => {
            received.push(sequence)
            return 'x'.repeat(sizeOf(sequence))
          }
          let subscriber = subscriberAt(0)
          const acknowledgeAndSend = (sequence: number | undefined) => {
            if (sequence !== undefined)
              subscriber = acknowledge(subscriber, sequence, 1) ?? subscriber
            const range = {
              from: subscriber.readUpTo,
              to: log.length,
              events: log.slice(subscriber.readUpTo),
            }
            if (hasCapacity(subscriber))
              subscriber = selectEvents(subscriber, range, textOf, 1).subscriber
            const unacknowledged = received
              .filter((sequence) => sequence > subscriber.acked)
              .map(sizeOf)
            const size = unacknowledged.reduce((sum, one) => sum + one, 0)
            expect(subscriber.unackedChars).toBeGreaterThanOrEqual(size)
            expect(size - (unacknowledged.at(-1) ?? 0)).toBeLessThan(MAX_UNACKED_CHARS)
          }
          acknowledgeAndSend(undefined)
          for (const part of acks) acknowledgeAndSend(received[Math.floor(part * received.length)])
          while (received.length < log.length) acknowledgeAndSend(received.at(-1))
          expect(received).toEqual(log.map(({ sequence }) => sequence))
        },
      ),
      { numRuns: 30 },
    )
  })

  test('has capacity again after acknowledging all but the last of many large events', () => {
    const large = () => 'x'.repeat(64_000)
    const { subscriber } = selectEvents(
      subscriberAt(0),
      { from: 0, to: 100, events: logOf(100) },
      large,
      5,
    )
    expect([subscriber.readUpTo, hasCapacity(subscriber)]).toEqual([32, false])
    expect(acknowledge(subscriber, 31, 9)).toMatchObject({ unacked: 1, unackedChars: 64_000 })
  })

  test('has full capacity and no deadline after acknowledging everything', () => {
    const { subscriber } = selectEvents(
      subscriberAt(0),
      { from: 0, to: 1500, events: logOf(1500) },
      (event) => JSON.stringify(event),
      5,
    )
    expect([
      subscriber.unacked,
      subscriber.readUpTo,
      subscriber.lastSent,
      subscriber.unackedSince,
      hasCapacity(subscriber),
    ]).toEqual([MAX_UNACKED_EVENTS, MAX_UNACKED_EVENTS, MAX_UNACKED_EVENTS, 5, false])
    expect(nextDeadline(subscriber)).toBe(5 + ACK_TIMEOUT_MS)
    expect(acknowledge(subscriber, MAX_UNACKED_EVENTS, 9)).toMatchObject({
      unacked: 0,
      unackedSince: null,
      acked: MAX_UNACKED_EVENTS,
    })
  })

  test('gets more time by acknowledging a newer event, not by repeating an acknowledgement', () => {
    const { subscriber } = selectEvents(
      subscriberAt(0),
      { from: 0, to: 10, events: logOf(10) },
      (event) => JSON.stringify(event),
      5,
    )
    const acked = acknowledge(subscriber, 4, 20)
    expect(acked).toMatchObject({ acked: 4, unacked: 6, unackedSince: 20 })
    expect(acked && acknowledge(acked, 4, 30)).toBe(acked)
    expect(acked && acknowledge(acked, 11, 30)).toBeNull()
  })

  test('gets at most a hundred events in one message', () => {
    const { messages } = selectEvents(
      subscriberAt(0),
      { from: 0, to: 250, events: logOf(250) },
      (event) => JSON.stringify(event),
      5,
    )
    expect(messages.map((message) => JSON.parse(message).events.length)).toEqual([100, 100, 50])
  })
})

test.each([
  ['{"type":"ack","sequence":3}', { type: 'ack', sequence: 3 }],
  ['{"type":"token","token":"x.y.z"}', { type: 'token', token: 'x.y.z' }],
  ['{"type":"ack","sequence":-1}', null],
  ['{"type":"ack","sequence":1.5}', null],
  ['{"type":"ack","sequence":"3"}', null],
  ['{"type":"ack","sequence":1e300}', null],
  ['{"type":"ack","sequence":3,"token":"x"}', null],
  ['{"type":"token","token":"x","sequence":3}', null],
  ['{"type":"token"}', null],
  ['{"type":"ack","sequence":3,"more":1}', null],
  ['[]', null],
  ['null', null],
  ['', null],
  ['{', null],
  [new ArrayBuffer(3), null],
  [`{"type":"token","token":"${'x'.repeat(9000)}"}`, null],
])('the message %s is parsed as %o', (message, expected) => {
  expect(readMessage(message)).toEqual(expected)
})
