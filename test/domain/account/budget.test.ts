import { expect, test } from 'vitest'
import { effectiveBudgets, usageAsOf } from '../../../src/domain/account/budget.ts'

const perLicense = { locationsPerDay: 10, storageBytes: 1000 }

test('a budget is the operator’s, or one share for each license and at least one', () => {
  const none = { locationsPerDay: null, storageBytes: null }
  expect(effectiveBudgets(none, perLicense, 0)).toEqual(perLicense)
  expect(effectiveBudgets(none, perLicense, 3)).toEqual({
    locationsPerDay: 30,
    storageBytes: 3000,
  })
  expect(effectiveBudgets({ locationsPerDay: 0, storageBytes: 7 }, perLicense, 3)).toEqual({
    locationsPerDay: 0,
    storageBytes: 7,
  })
})

test('a day’s count ends with the day, the bytes stay, and a later day is not left', () => {
  const usage = { day: '2026-11-14', locations: 5, storageBytes: 320 }
  expect(usageAsOf(usage, '2026-11-14')).toEqual(usage)
  expect(usageAsOf(usage, '2026-11-15')).toEqual({ ...usage, day: '2026-11-15', locations: 0 })
  expect(usageAsOf(usage, '2026-11-13')).toEqual(usage)
  expect(usageAsOf(null, '2026-11-13')).toEqual({
    day: '2026-11-13',
    locations: 0,
    storageBytes: 0,
  })
})
