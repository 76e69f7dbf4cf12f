import { describe, expect, test } from 'vitest'
import {
  agree,
  canBeBoth,
  findFault,
  isClockWrong,
  leastSpeed,
} from '../../../src/domain/track/credible.ts'

const NOW = Date.UTC(2026, 10, 15, 12)
const DAY = 86_400_000
const at = (minutes: number, latitude: number, accuracy: number | null = null) => ({
  time: NOW + minutes * 60_000,
  latitude,
  longitude: 2,
  accuracy,
})

describe('a clock', () => {
  test.each([
    ['more than a day ahead', NOW + DAY + 1],
    ['of 1970', 0],
    ['of the first day of GPS', Date.UTC(1980, 0, 6)],
    ['of the first rollover', Date.UTC(1999, 7, 22)],
    ['of 2000', Date.UTC(2000, 0, 1, 5)],
    ['of the last rollover', Date.UTC(2019, 3, 7, 10)],
    ['that has lost 1024 weeks', NOW - 1024 * 7 * DAY + 3_600_000],
  ])('%s is wrong', (_, dateTime) => {
    expect(isClockWrong(dateTime, NOW)).toBe(true)
  })

  test.each([
    ['a day ahead', NOW + DAY],
    ['of a report that waited for a week', NOW - 7 * DAY],
    ['of a report that waited for two years', NOW - 730 * DAY],
    ['of two days after the last rollover', Date.UTC(2019, 3, 9)],
    ['1024 weeks and two days ago', NOW - (1024 * 7 + 2) * DAY],
  ])('%s is not', (_, dateTime) => {
    expect(isClockWrong(dateTime, NOW)).toBe(false)
  })
})

test('0, 0 is a fault whatever the clock; the equator and the meridian are none', () => {
  const place = (latitude: number, longitude: number) => ({
    time: NOW,
    latitude,
    longitude,
    accuracy: null,
  })
  expect(findFault(place(0, 0), NOW)).toBe('zero-coordinates')
  expect(findFault(place(0, 6), NOW)).toBeNull()
  expect(findFault(place(51, 0), NOW)).toBeNull()
})

test('a speed is what is left after both accuracies', () => {
  // One degree of latitude is 111.19 km.
  expect(leastSpeed(at(0, 10), at(60, 11))).toBeCloseTo(111.2, 0)
  expect(leastSpeed(at(0, 10, 50_000), at(60, 11, 50_000))).toBeCloseTo(11.2, 0)
  expect(leastSpeed(at(0, 10, 60_000), at(60, 11, 60_000))).toBe(0)
  expect(canBeBoth(at(0, 10), at(60, 11), 111)).toBe(false)
  expect(canBeBoth(at(0, 10), at(60, 11), 112)).toBe(true)
  expect(canBeBoth(at(0, 10), at(60, 80), 0)).toBe(true)
})

test('fixes agree when each can follow the one before, whatever their order', () => {
  expect(agree([at(2, 50.2), at(0, 50), at(1, 50.1)], 1200)).toBe(true)
  expect(agree([at(0, 50), at(1, 55), at(2, 50)], 1200)).toBe(false)
})
