const SECOND = 1000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** The waits between ten attempts: three days in all, little at first. */
const WAITS = [
  5 * SECOND,
  MINUTE,
  5 * MINUTE,
  30 * MINUTE,
  2 * HOUR,
  6 * HOUR,
  12 * HOUR,
  20 * HOUR,
  32 * HOUR,
]
export const MAX_ATTEMPTS = WAITS.length + 1
const JITTER = 0.1

/** How long without one success before a receiver is given up. */
export const GIVEN_UP_AFTER = 5 * DAY

/** The wait after this many attempts, up to a tenth longer or shorter as `chance` (0–1) has it; null after the last. */
export const waitAfter = (attempts: number, chance: number): number | null => {
  const wait = WAITS[attempts - 1]
  return wait === undefined ? null : Math.round(wait * (1 + JITTER * (2 * chance - 1)))
}
