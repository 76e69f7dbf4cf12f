import { expect, test } from 'vitest'
import {
  isScheduled,
  nextClockTime,
  type ScheduleEntry,
  WEEKDAYS,
} from '../../../src/domain/time/schedule.ts'

const LISBON = 'Europe/Lisbon'
const at = (text: string) => Date.parse(text)

test('no schedule is always', () => {
  expect(isScheduled([], at('2026-11-14T00:00:00Z'), LISBON)).toBe(true)
})

test('the end is not included, and 24:00 is the end of the day', () => {
  const schedule: ScheduleEntry[] = [{ days: ['sat'], from: '08:00', to: '24:00' }]
  expect(isScheduled(schedule, at('2026-11-14T07:59:59.999Z'), LISBON)).toBe(false)
  expect(isScheduled(schedule, at('2026-11-14T08:00:00Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-14T23:59:59Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-15T00:00:00Z'), LISBON)).toBe(false)
})

test('a stretch past midnight belongs to the day on which it begins', () => {
  const schedule: ScheduleEntry[] = [{ days: ['fri'], from: '20:00', to: '06:00' }]
  expect(isScheduled(schedule, at('2026-11-13T19:59:00Z'), LISBON)).toBe(false)
  expect(isScheduled(schedule, at('2026-11-13T20:00:00Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-14T05:59:00Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-14T06:00:00Z'), LISBON)).toBe(false)
  expect(isScheduled(schedule, at('2026-11-14T20:30:00Z'), LISBON)).toBe(false)
  expect(isScheduled(schedule, at('2026-11-13T05:00:00Z'), LISBON)).toBe(false)
})

test('equal ends are a day from that time on', () => {
  const schedule: ScheduleEntry[] = [{ days: ['sat'], from: '12:00', to: '12:00' }]
  expect(isScheduled(schedule, at('2026-11-14T11:59:00Z'), LISBON)).toBe(false)
  expect(isScheduled(schedule, at('2026-11-14T12:00:00Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-15T11:59:00Z'), LISBON)).toBe(true)
  expect(isScheduled(schedule, at('2026-11-15T12:00:00Z'), LISBON)).toBe(false)
})

test('where clocks go forward the hour that is skipped never comes', () => {
  // Lisbon, 29 March 2026: 01:00 is followed by 02:00.
  const schedule: ScheduleEntry[] = [{ days: ['sun'], from: '01:00', to: '02:00' }]
  const midnight = at('2026-03-29T00:00:00Z')
  for (let minute = 0; minute < 180; minute++)
    expect(isScheduled(schedule, midnight + minute * 60_000, LISBON)).toBe(false)
  const later: ScheduleEntry[] = [{ days: ['sun'], from: '02:00', to: '03:00' }]
  expect(isScheduled(later, at('2026-03-29T01:00:00Z'), LISBON)).toBe(true)
})

test('where clocks go back the hour that is repeated counts twice', () => {
  // Lisbon, 25 October 2026: 02:00 is followed by 01:00.
  const schedule: ScheduleEntry[] = [{ days: ['sun'], from: '01:30', to: '02:00' }]
  const hits: number[] = []
  const before = at('2026-10-24T23:00:00Z')
  for (let minute = 0; minute < 240; minute++)
    if (isScheduled(schedule, before + minute * 60_000, LISBON)) hits.push(minute)
  expect(hits).toEqual([
    ...Array.from({ length: 30 }, (_, index) => 90 + index),
    ...Array.from({ length: 30 }, (_, index) => 150 + index),
  ])
})

test('a night is whole on the days of both changes', () => {
  const night: ScheduleEntry[] = [{ days: [...WEEKDAYS], from: '20:00', to: '06:00' }]
  const count = (from: string, to: string) => {
    let minutes = 0
    for (let time = at(from); time < at(to); time += 60_000)
      if (isScheduled(night, time, 'Europe/Berlin')) minutes++
    return minutes
  }
  expect(count('2026-03-28T12:00:00Z', '2026-03-29T12:00:00Z')).toBe(9 * 60)
  expect(count('2026-10-24T12:00:00Z', '2026-10-25T12:00:00Z')).toBe(11 * 60)
  expect(count('2026-11-24T12:00:00Z', '2026-11-25T12:00:00Z')).toBe(10 * 60)
})

test.each([
  ['later today', '18:00', '2026-11-14T12:00:00Z', LISBON, '2026-11-14T18:00:00Z'],
  ['tomorrow, once it has come', '18:00', '2026-11-14T18:00:00Z', LISBON, '2026-11-15T18:00:00Z'],
  ['in summer', '18:00', '2026-07-14T12:00:00Z', LISBON, '2026-07-14T17:00:00Z'],
  ['a zone ahead', '00:30', '2026-11-14T12:00:00Z', 'Asia/Kathmandu', '2026-11-14T18:45:00Z'],
  ['after clocks go forward', '18:00', '2026-03-28T19:00:00Z', LISBON, '2026-03-29T17:00:00Z'],
  ['late on a day of 23 hours', '23:30', '2026-03-29T12:00:00Z', LISBON, '2026-03-29T22:30:00Z'],
  ['late on a day of 25 hours', '23:30', '2026-10-25T12:00:00Z', LISBON, '2026-10-25T23:30:00Z'],
  ['a time that is skipped', '01:30', '2026-03-28T12:00:00Z', LISBON, '2026-03-29T01:30:00Z'],
])('the next time of day: %s', (_, clock, from, timeZone, expected) => {
  expect(new Date(nextClockTime(clock, at(from), timeZone)).toISOString()).toBe(
    new Date(expected).toISOString(),
  )
})
