import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { ACKNOWLEDGE_WITHIN, readMessage, WINDOW, WINDOW_SIZE } from '../../src/domain/stream.ts'
import type { LoggedEvent } from '../../src/events/store.ts'
import { acknowledge, dueAt, hasRoom, newSeat, type Seat, take } from '../../src/feed/seat.ts'

const claims: Seat['claims'] = { accountId: 'acc_1', cell: 0, keyId: 'key_1', scopes: ['read'], userId: null, exp: 1e9 }
const seatAt = (sent: number, types: readonly string[] = []): Seat => newSeat(claims, null, { types, devices: [], groups: [] }, sent)

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
  size: 2,
})

const logOf = (length: number) => Array.from({ length }, (_, n) => eventAt(n + 1))
const sequencesIn = (messages: string[]): number[] =>
  messages.flatMap((message) => JSON.parse(message).events.map(({ sequence }: LoggedEvent) => sequence))

describe('a reader', () => {
  test('is sent what it asks for once and in order, never more than the window beyond what it acknowledged', () => {
    const step = fc.oneof(
      fc.record({ read: fc.integer({ min: 1, max: 700 }) }),
      fc.record({ ack: fc.double({ min: 0, max: 1, noNaN: true }) }),
    )
    fc.assert(
      fc.property(fc.constantFrom([], ['key.*'], ['device.*']), fc.array(step, { maxLength: 40 }), (types, steps) => {
        const log = logOf(3000)
        let seat = seatAt(0, types)
        const heard: number[] = []
        for (const given of steps) {
          if ('ack' in given) {
            const sequence = heard[Math.floor(given.ack * heard.length)]
            if (sequence !== undefined) seat = acknowledge(seat, sequence, 1) ?? seat
          } else if (hasRoom(seat)) {
            const from = seat.sent
            const to = Math.min(log.length, from + given.read)
            const taken = take(seat, { from, to, events: log.slice(from, to) }, (event) => JSON.stringify(event), 1)
            heard.push(...sequencesIn(taken.messages))
            seat = taken.seat
          }
          const unacknowledged = heard.filter((sequence) => sequence > seat.acked).length
          expect(unacknowledged).toBeLessThanOrEqual(WINDOW)
          expect(seat.owed).toBeGreaterThanOrEqual(unacknowledged)
          expect(seat.owedSince === null).toBe(unacknowledged === 0)
        }
        const wanted = log.filter(({ type }) => types.length === 0 || type.startsWith((types[0] ?? '').slice(0, -1)))
        expect(heard).toEqual(wanted.slice(0, heard.length).map(({ sequence }) => sequence))
        expect(wanted.filter(({ sequence }) => sequence <= seat.sent)).toHaveLength(heard.length)
      }),
    )
  })

  test('of large events is sent about 2 MB beyond what it acknowledged, and goes on with every step forward to the last', () => {
    const sizes = fc.array(fc.integer({ min: 1, max: 400_000 }), { minLength: 1, maxLength: 40 })
    fc.assert(
      fc.property(sizes, fc.array(fc.double({ min: 0, max: 1, noNaN: true }), { maxLength: 20 }), (sizes, acks) => {
        const log = logOf(sizes.length)
        const sizeOf = (sequence: number) => sizes[sequence - 1] ?? 0
        const heard: number[] = []
        const textOf = ({ sequence }: LoggedEvent) => {
          heard.push(sequence)
          return 'x'.repeat(sizeOf(sequence))
        }
        let seat = seatAt(0)
        const acknowledged = (sequence: number | undefined) => {
          if (sequence !== undefined) seat = acknowledge(seat, sequence, 1) ?? seat
          const stretch = { from: seat.sent, to: log.length, events: log.slice(seat.sent) }
          if (hasRoom(seat)) seat = take(seat, stretch, textOf, 1).seat
          const unacknowledged = heard.filter((sequence) => sequence > seat.acked).map(sizeOf)
          const size = unacknowledged.reduce((sum, one) => sum + one, 0)
          expect(seat.owedSize).toBeGreaterThanOrEqual(size)
          expect(size - (unacknowledged.at(-1) ?? 0)).toBeLessThan(WINDOW_SIZE)
        }
        acknowledged(undefined)
        for (const part of acks) acknowledged(heard[Math.floor(part * heard.length)])
        while (heard.length < log.length) acknowledged(heard.at(-1))
        expect(heard).toEqual(log.map(({ sequence }) => sequence))
      }),
      { numRuns: 30 },
    )
  })

  test('that acknowledges all but the last of a full window of large events is sent more', () => {
    const large = () => 'x'.repeat(64_000)
    const { seat } = take(seatAt(0), { from: 0, to: 100, events: logOf(100) }, large, 5)
    expect([seat.sent, hasRoom(seat)]).toEqual([32, false])
    expect(acknowledge(seat, 31, 9)).toMatchObject({ owed: 1, owedSize: 64_000 })
  })

  test('that acknowledged everything has the whole window again, and no clock runs', () => {
    const { seat } = take(seatAt(0), { from: 0, to: 1500, events: logOf(1500) }, (event) => JSON.stringify(event), 5)
    expect([seat.owed, seat.sent, seat.last, seat.owedSince, hasRoom(seat)]).toEqual([WINDOW, WINDOW, WINDOW, 5, false])
    expect(dueAt(seat)).toBe(5 + ACKNOWLEDGE_WITHIN)
    expect(acknowledge(seat, WINDOW, 9)).toMatchObject({ owed: 0, owedSince: null, acked: WINDOW })
  })

  test('that makes a step forward gets more time; repeating itself, it does not', () => {
    const { seat } = take(seatAt(0), { from: 0, to: 10, events: logOf(10) }, (event) => JSON.stringify(event), 5)
    const stepped = acknowledge(seat, 4, 20)
    expect(stepped).toMatchObject({ acked: 4, owed: 6, owedSince: 20 })
    expect(stepped && acknowledge(stepped, 4, 30)).toBe(stepped)
    expect(stepped && acknowledge(stepped, 11, 30)).toBeNull()
  })

  test('hears of a hundred events in one message at the most', () => {
    const { messages } = take(seatAt(0), { from: 0, to: 250, events: logOf(250) }, (event) => JSON.stringify(event), 5)
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
])('the message %s is read as %o', (message, expected) => {
  expect(readMessage(message)).toEqual(expected)
})
