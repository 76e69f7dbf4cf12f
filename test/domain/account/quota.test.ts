import fc from 'fast-check'
import { expect, test } from 'vitest'
import { reserve } from '../../../src/domain/account/quota.ts'
import {
  GIVE_UP_AFTER_MS,
  nextAttemptTime,
  retryDelayMs,
} from '../../../src/domain/message/messageRetry.ts'

test('a day grants exactly its limit, however the requests are split', () => {
  fc.assert(
    fc.property(fc.nat(200), fc.array(fc.nat(30)), (limit, portions) => {
      let used = 0
      for (const wanted of portions) {
        const { granted, suppressed, reached } = reserve(limit, used, wanted)
        expect(granted + suppressed).toBe(wanted)
        expect(granted).toBe(Math.min(wanted, limit - used))
        used += granted
        expect(reached).toBe(wanted > 0 && used >= limit)
      }
      expect(used).toBe(
        Math.min(
          limit,
          portions.reduce((sum, wanted) => sum + wanted, 0),
        ),
      )
    }),
  )
})

test('a limit below what is used already grants nothing and takes nothing back', () => {
  expect(reserve(5, 9, 3)).toEqual({ granted: 0, suppressed: 3, reached: true })
  expect(reserve(0, 0, 1)).toEqual({ granted: 0, suppressed: 1, reached: true })
  expect(reserve(0, 0, 0)).toEqual({ granted: 0, suppressed: 0, reached: false })
})

test('retry delays double, vary at random, have a maximum, and are shorter for urgent messages', () => {
  for (let attempts = 1; attempts < 60; attempts++) {
    for (const urgent of [true, false]) {
      const [least, most] = [retryDelayMs(attempts, urgent, 0), retryDelayMs(attempts, urgent, 1)]
      expect(least).toBeGreaterThan(0)
      expect(most).toBeLessThanOrEqual(3_600_000)
      expect(most / least).toBeCloseTo(2, 5)
      expect(retryDelayMs(attempts + 1, urgent, 1)).toBeGreaterThanOrEqual(most)
    }
    expect(retryDelayMs(attempts, true, 1)).toBeLessThan(retryDelayMs(attempts, false, 0))
  }
})

test('attempts go on for a day, the last one at its end; a longer Retry-After ends them at once', () => {
  const hour = 3_600_000
  expect(nextAttemptTime(0, hour, hour)).toBe(2 * hour)
  expect(nextAttemptTime(0, GIVE_UP_AFTER_MS - 1, hour)).toBe(GIVE_UP_AFTER_MS)
  expect(nextAttemptTime(0, GIVE_UP_AFTER_MS, hour)).toBeNull()
  expect(nextAttemptTime(0, hour, 1000, 2 * hour)).toBe(3 * hour)
  expect(nextAttemptTime(0, hour, 1000, 24 * hour)).toBeNull()
})
