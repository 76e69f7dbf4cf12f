/** A message that no provider has accepted after this long is given up. */
export const GIVE_UP_AFTER_MS = 86_400_000

const NORMAL = { firstMs: 15_000, maxMs: 3_600_000 }
const URGENT = { firstMs: 4_000, maxMs: 120_000 }

/** The delay after so many failed attempts: doubles each time, spread by `random` (0–1). */
export const retryDelayMs = (attempts: number, isUrgent: boolean, random: number): number => {
  const { firstMs, maxMs } = isUrgent ? URGENT : NORMAL
  const fullMs = Math.min(maxMs, firstMs * 2 ** Math.min(attempts - 1, 30))
  return Math.round(fullMs * (0.5 + random / 2))
}

/**
 * When a message is attempted next; null if it is given up. The last attempt is made a day after it
 * was accepted; a provider that asks to wait (`afterMs`) for longer ends it at once.
 */
export const nextAttemptTime = (
  accepted: number,
  now: number,
  delayMs: number,
  afterMs = 0,
): number | null => {
  const end = accepted + GIVE_UP_AFTER_MS
  if (now >= end || now + afterMs > end) return null
  return Math.min(now + Math.max(delayMs, afterMs), end)
}
