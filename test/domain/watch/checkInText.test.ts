import { expect, test } from 'vitest'
import { dueOf, readCheckIn } from '../../../src/domain/watch/checkInText.ts'

const person = { action: 'checkIn', given: 'checkIn' }
const message = { action: 'checkIn', given: 'message' }

test.each([
  ['CHECK-IN', person],
  ['check-in', person],
  ['CheckIn', person],
  [' check  in \r\n', person],
  ['CHECK–IN', person],
  ['CHECK-IN.', person],
  ['OK', message],
  [' ok! ', message],
  ['CHECK-IN 6H', { action: 'promise', minutes: 360 }],
  ['checkin6h', { action: 'promise', minutes: 360 }],
  ['CHECK-IN 90 M', { action: 'promise', minutes: 90 }],
  ['CHECK-IN 2 hours', { action: 'promise', minutes: 120 }],
  ['CHECK-IN 45 min', { action: 'promise', minutes: 45 }],
  ['CHECK-IN 18:00', { action: 'promise', clock: '18:00' }],
  ['CHECK-IN 7:05', { action: 'promise', clock: '07:05' }],
  ['CHECK-IN EVERY 6H', { action: 'repeat', everyMinutes: 360 }],
  ['check in every 90m', { action: 'repeat', everyMinutes: 90 }],
  ['CHECK-IN END', { action: 'complete' }],
  ['checkinend', { action: 'complete' }],
  ['CHECK-IN 720H', { action: 'promise', minutes: 43_200 }],
])('%j is read', (text, expected) => {
  expect(readCheckIn(text)).toEqual(expected)
})

test.each([
  '',
  'OKAY',
  'NOT OK',
  'OK?',
  'CHECK',
  'CHECK-IN?',
  'CHECK-IN tomorrow',
  'CHECK-IN in 2 days',
  'CHECK-IN 6',
  'CHECK-IN 6-8H',
  'CHECK-IN 6 8H',
  'CHECK-IN 0H',
  'CHECK-IN 721H',
  'CHECK-IN 99999H',
  'CHECK-IN 999999999H',
  'CHECK-IN -6H',
  'CHECK-IN EVERY 0M',
  'CHECK-IN 24:00',
  'CHECK-IN 18:60',
  'CHECK-IN 25:99',
  'CHECK-IN EVERY 18:00',
  'CHECK-IN EVERY',
  'Please CHECK-IN',
  'CHECK-IN all is well',
  'all ok',
  `CHECK-IN${' '.repeat(40)}6H`,
])('%j is no check-in', (text) => {
  expect(readCheckIn(text)).toBeNull()
})

test('a deadline counts from the message, and a time of day in the given zone', () => {
  const at = Date.parse('2026-07-14T12:00:00Z')
  const due = (text: string) => {
    const read = readCheckIn(text)
    if (read?.action !== 'promise') throw new Error(text)
    return new Date(dueOf(read, at, 'Europe/Lisbon')).toISOString()
  }
  expect(due('CHECK-IN 90M')).toBe('2026-07-14T13:30:00.000Z')
  expect(due('CHECK-IN 18:00')).toBe('2026-07-14T17:00:00.000Z')
  expect(due('CHECK-IN 13:00')).toBe('2026-07-15T12:00:00.000Z')
})
