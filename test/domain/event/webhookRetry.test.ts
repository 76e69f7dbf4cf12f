import { expect, test } from 'vitest'
import { MAX_ATTEMPTS, retryDelayMs } from '../../../src/domain/event/webhookRetry.ts'

const DAY = 86_400_000
const total = (random: number) =>
  Array.from(
    { length: MAX_ATTEMPTS - 1 },
    (_, n) => retryDelayMs(n + 1, random) ?? Number.NaN,
  ).reduce((sum, delayMs) => sum + delayMs)

test('ten attempts take about three days, each delay longer than the one before', () => {
  expect(MAX_ATTEMPTS).toBe(10)
  expect(total(0.5) / DAY).toBeCloseTo(3, 1)
  for (let n = 1; n < 9; n++)
    expect(retryDelayMs(n + 1, 0)).toBeGreaterThan(retryDelayMs(n, 1) ?? 0)
  expect(retryDelayMs(10, 0.5)).toBeNull()
})

test('random varies the delays by up to a tenth either way', () => {
  expect(total(0)).toBeCloseTo(total(0.5) * 0.9, -2)
  expect(total(1)).toBeCloseTo(total(0.5) * 1.1, -2)
})
