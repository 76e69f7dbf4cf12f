import { expect, test } from 'vitest'
import {
  daysOfMonth,
  endOfMonth,
  firstMonth,
  lastClosedMonth,
  MONTH,
  monthsOf,
  nextMonth,
  spreadCounts,
  sumUsage,
  type UsageDays,
} from '../../../src/domain/usage/usage.ts'

test('a month has all its days', () => {
  expect(daysOfMonth('2028-02')).toEqual({ from: '2028-02-01', to: '2028-02-29' })
  expect(nextMonth('2027-12')).toBe('2028-01')
  expect(monthsOf({ from: '2027-11-30', to: '2028-01-01' })).toEqual([
    '2027-11',
    '2027-12',
    '2028-01',
  ])
  expect(['2027-13', '2027-00', '27-01', '2027-1'].filter((text) => MONTH.test(text))).toEqual([])
})

test('a month is closed two days after its end in the last zone', () => {
  expect(lastClosedMonth(Date.parse('2027-05-03T11:59:59Z'))).toBe('2027-03')
  expect(lastClosedMonth(Date.parse('2027-05-03T12:00:00Z'))).toBe('2027-04')
  expect(lastClosedMonth(Date.parse('2027-05-31T12:00:00Z'))).toBe('2027-04')
})

test('an account has the months that were not over everywhere when it was opened', () => {
  const end = endOfMonth('2027-04')
  expect(new Date(end).toISOString()).toBe('2027-05-01T12:00:00.000Z')
  expect([firstMonth(end - 1), firstMonth(end)]).toEqual(['2027-04', '2027-05'])
})

test('a day without a row has the storage of the day before', () => {
  const row = (day: string, storageBytes: number) => ({
    day,
    storageBytes,
    locations: 5,
    requests: 2,
  })
  const rows = [row('2027-04-20', 100), row('2027-05-02', 300), row('2027-04-10', 50)]
  expect(spreadCounts(rows, { from: '2027-05-01', to: '2027-05-03' })).toEqual({
    locations: [0, 5, 0],
    requests: [0, 2, 0],
    storageBytes: [100, 300, 300],
  })
})

const part = (from: string, days: number, more: Partial<UsageDays> = {}): UsageDays => ({
  from,
  timeZone: 'UTC',
  licenses: Array.from({ length: days }, (_, index) => index + 1),
  locations: Array.from({ length: days }, () => 10),
  requests: Array.from({ length: days }, () => 3),
  storageBytes: Array.from({ length: days }, () => 1000),
  messages: [],
  exact: ['licenseDays', 'messages'],
  ...more,
})

test('the days of a span are added up, over parts of which only some are in it', () => {
  const sms = { channel: 'SMS' as const, provider: 'twilio', messages: 1, segments: 3 }
  const parts = [
    part('2027-05-01', 31, {
      messages: [
        { day: '2027-05-29', ...sms },
        { day: '2027-05-30', ...sms },
        { day: '2027-05-31', ...sms, provider: 'other', segments: 1 },
        { day: '2027-05-31', channel: 'Voice', provider: 'twilio', messages: 2, segments: 2 },
      ],
    }),
    part('2027-06-01', 2, { exact: ['licenseDays'], storageBytes: [3000, 3000] }),
  ]
  expect(sumUsage(parts, { from: '2027-05-30', to: '2027-06-02' })).toEqual({
    licenseDays: 30 + 31 + 1 + 2,
    locations: 40,
    requests: 12,
    messages: { email: 0, sms: 2, smsSegments: 4, push: 0, voice: 2 },
    providers: [
      { channel: 'SMS', provider: 'other', messages: 1, segments: 1 },
      { channel: 'SMS', provider: 'twilio', messages: 1, segments: 3 },
      { channel: 'Voice', provider: 'twilio', messages: 2, segments: 2 },
    ],
    storageBytes: 2000,
    exact: ['licenseDays'],
  })
})
