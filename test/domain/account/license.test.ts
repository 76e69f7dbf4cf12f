import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import {
  available,
  availableAt,
  canGrant,
  currentDay,
  endsOf,
  hasEnded,
} from '../../../src/domain/account/license.ts'
import { addDays, dayStart } from '../../../src/domain/time/day.ts'

describe("the account's day", () => {
  const account = { day: '2026-11-14', timeZone: 'Asia/Tokyo' }

  test('advances with the clock of its time zone', () => {
    expect(currentDay(account, Date.parse('2026-11-14T14:59:59.999Z'))).toBe('2026-11-14')
    expect(currentDay(account, Date.parse('2026-11-14T15:00:00Z'))).toBe('2026-11-15')
  })

  test('never goes back, so that no device is revived', () => {
    const back = currentDay(account, Date.parse('2020-01-01T00:00:00Z'))
    expect(back).toBe('2026-11-14')
    expect(hasEnded('2026-11-14', back)).toBe(true)
  })
})

test('a device expires at the start of its expiration date, and never without one', () => {
  expect(hasEnded('2026-11-14', '2026-11-13')).toBe(false)
  expect(hasEnded('2026-11-14', '2026-11-14')).toBe(true)
  expect(hasEnded(null, '9999-12-31')).toBe(false)
  expect(endsOf({ expires: true, expirationDate: '2027-01-01' })).toBe('2027-01-01')
  expect(endsOf({ expires: false, expirationDate: '2027-01-01' })).toBe(null)
})

test('licenses are granted while enough are free: all that are wanted or none', () => {
  expect(canGrant({ total: 3, used: 2 })).toBe(true)
  expect(canGrant({ total: 3, used: 3 })).toBe(false)
  expect(canGrant({ total: 3, used: 1 }, 2)).toBe(true)
  expect(canGrant({ total: 3, used: 1 }, 3)).toBe(false)
  expect(canGrant({ total: 0, used: 0 })).toBe(false)
  expect(canGrant({ total: 2, used: 5 })).toBe(false)
})

test('available is never negative, even if the total is below the number in use', () => {
  expect(available({ total: 3, used: 1 })).toBe(2)
  expect(available({ total: 1, used: 4 })).toBe(0)
})

describe('the time when a license becomes free', () => {
  const zone = 'America/New_York'

  test('is the start of the first day on which one is free', () => {
    const endings = [
      { day: '2026-12-01', count: 1 },
      { day: '2027-01-01', count: 3 },
    ]
    expect(availableAt({ total: 4, used: 4 }, endings, zone)).toBe(dayStart('2026-12-01', zone))
    expect(availableAt({ total: 3, used: 4 }, endings, zone)).toBe(dayStart('2027-01-01', zone))
    expect(availableAt({ total: 1, used: 5 }, endings, zone)).toBe(null)
    expect(availableAt({ total: 4, used: 4 }, [], zone)).toBe(null)
    expect(availableAt({ total: 0, used: 0 }, endings, zone)).toBe(null)
  })

  test('agrees with a day-by-day simulation', () => {
    const endings = fc.uniqueArray(
      fc.record({ after: fc.integer({ min: 1, max: 60 }), count: fc.integer({ min: 1, max: 4 }) }),
      {
        selector: ({ after }) => after,
      },
    )
    fc.assert(
      fc.property(
        endings,
        fc.integer({ min: 0, max: 10 }),
        fc.integer({ min: 0, max: 10 }),
        (drawn, total, endless) => {
          const sorted = drawn
            .toSorted((a, b) => a.after - b.after)
            .map(({ after, count }) => ({ day: addDays('2026-11-14', after), count }))
          const used = endless + sorted.reduce((sum, { count }) => sum + count, 0)
          fc.pre(used >= total)
          let free: number | null = null
          for (let number = 1, left = used; number <= 60 && free === null; number++) {
            const day = addDays('2026-11-14', number)
            left -= sorted.find((ending) => ending.day === day)?.count ?? 0
            if (left < total) free = dayStart(day, zone)
          }
          expect(availableAt({ total, used }, sorted, zone)).toBe(free)
        },
      ),
    )
  })
})
