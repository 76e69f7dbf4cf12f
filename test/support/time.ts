import { afterEach, beforeEach, vi } from 'vitest'

/**
 * Waits until `check` stops throwing. The timeout is generous, because a slow machine is not a
 * failure; a test that passes waits no longer than it must.
 */
export const eventually = <T>(check: () => T | Promise<T>, intervalMs = 50): Promise<T> =>
  vi.waitFor(check, { timeout: 40_000, interval: intervalMs })

export const DAY_MS = 86_400_000

/** Midnight in UTC, so many days ago: within the retention of any account that did not shorten it. */
export const daysAgo = (days: number): number => Math.floor(Date.now() / DAY_MS - days) * DAY_MS

export const iso = (ms: number): string => new Date(ms).toISOString()

export const nextNoon = (): number => Date.now() - (Date.now() % DAY_MS) + 1.5 * DAY_MS

/** Each test of the file begins at the next noon, so that the day does not end during it. */
export const beginTestsAtNoon = (): void => {
  beforeEach(() => void vi.useFakeTimers({ toFake: ['Date'], now: nextNoon() }))
  afterEach(() => {
    vi.useRealTimers()
    vi.restoreAllMocks()
  })
}
