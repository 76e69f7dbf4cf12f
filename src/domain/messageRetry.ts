/** A message that no provider has taken after this long is given up. */
export const GIVE_UP_AFTER = 86_400_000

const NORMAL = { first: 15_000, longest: 3_600_000 }
const URGENT = { first: 4_000, longest: 120_000 }

/** How long after the given number of failed tries the next one comes: doubling, with `chance` (0–1) spreading the crowd. */
export const backoff = (attempts: number, urgent: boolean, chance: number): number => {
  const { first, longest } = urgent ? URGENT : NORMAL
  const whole = Math.min(longest, first * 2 ** Math.min(attempts - 1, 30))
  return Math.round(whole * (0.5 + chance / 2))
}

/**
 * When a message is tried next, or null where it is given up. The last try comes when its day is over; one that a provider
 * put off (`after`, from now) beyond that day never comes.
 */
export const nextTry = (accepted: number, now: number, delay: number, after = 0): number | null => {
  const end = accepted + GIVE_UP_AFTER
  if (now >= end || now + after > end) return null
  return Math.min(now + Math.max(delay, after), end)
}
