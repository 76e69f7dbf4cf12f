import { expect, test } from 'vitest'
import { MAX_ATTEMPTS, waitAfter } from '../../src/domain/webhookRetry.ts'

const DAY = 86_400_000
const total = (chance: number) =>
  Array.from({ length: MAX_ATTEMPTS - 1 }, (_, n) => waitAfter(n + 1, chance) ?? Number.NaN).reduce(
    (sum, wait) => sum + wait,
  )

test('ten attempts take about three days, each wait longer than the one before', () => {
  expect(MAX_ATTEMPTS).toBe(10)
  expect(total(0.5) / DAY).toBeCloseTo(3, 1)
  for (let n = 1; n < 9; n++) expect(waitAfter(n + 1, 0)).toBeGreaterThan(waitAfter(n, 1) ?? 0)
  expect(waitAfter(10, 0.5)).toBeNull()
})

test('chance spreads the waits by a tenth either way', () => {
  expect(total(0)).toBeCloseTo(total(0.5) * 0.9, -2)
  expect(total(1)).toBeCloseTo(total(0.5) * 1.1, -2)
})
