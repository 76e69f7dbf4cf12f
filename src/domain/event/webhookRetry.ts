const SECOND_MS = 1000
const MINUTE_MS = 60 * SECOND_MS
const HOUR_MS = 60 * MINUTE_MS
const DAY_MS = 24 * HOUR_MS

/** The delays between the ten attempts of a delivery: three days in all. */
const RETRY_DELAYS_MS = [
  5 * SECOND_MS,
  MINUTE_MS,
  5 * MINUTE_MS,
  30 * MINUTE_MS,
  2 * HOUR_MS,
  6 * HOUR_MS,
  12 * HOUR_MS,
  20 * HOUR_MS,
  32 * HOUR_MS,
]
export const MAX_ATTEMPTS = RETRY_DELAYS_MS.length + 1
const JITTER = 0.1

/** A webhook without one success for this long is disabled. */
export const DISABLE_AFTER_MS = 5 * DAY_MS

/** The delay after this many attempts, varied by `random` (0–1); null after the last attempt. */
export const retryDelayMs = (attempts: number, random: number): number | null => {
  const delayMs = RETRY_DELAYS_MS[attempts - 1]
  return delayMs === undefined ? null : Math.round(delayMs * (1 + JITTER * (2 * random - 1)))
}
