import type { DisabledReason } from '../../domain/event/webhook.ts'
import { DISABLE_AFTER_MS, retryDelayMs } from '../../domain/event/webhookRetry.ts'
import type { AttemptResult } from './attempt.ts'

/* What follows an attempt. */

const GONE = 410

interface EndedAttempt {
  result: AttemptResult
  /** Scheduled attempts of the delivery so far; manual ones do not count. */
  attempts: number
  failingSince: number | null
  /** When any attempt of the webhook last succeeded: its lanes fail apart. */
  lastSuccessAt: number
  now: number
  /** 0–1, for the jitter. */
  random: number
  /** Whether another attempt would have the same result. */
  isRefused?: boolean
  /** Attempts go on until this time, with at most this delay between them. */
  repeats?: { until: number; maxDelayMs: number } | undefined
}

export interface NextStep {
  /** When to try again; null for never. */
  nextAttempt: number | null
  disable: DisabledReason | null
  failingSince: number | null
}

/** Null if the delivery is given up. */
const delayAfter = ({ attempts, random, now, isRefused, repeats }: EndedAttempt): number | null => {
  if (isRefused) return null
  const delayMs = retryDelayMs(attempts, random)
  if (!repeats) return delayMs
  if (now >= repeats.until) return null
  return Math.min(delayMs ?? repeats.maxDelayMs, repeats.maxDelayMs)
}

export const nextStep = (attempt: EndedAttempt): NextStep => {
  const { result, now } = attempt
  if (result.failure === null) return { nextAttempt: null, disable: null, failingSince: null }
  const failingSince = attempt.failingSince ?? now
  if (result.responseCode === GONE) return { nextAttempt: null, disable: 'gone', failingSince }
  const disableAt = Math.max(failingSince, attempt.lastSuccessAt) + DISABLE_AFTER_MS
  if (now >= disableAt) return { nextAttempt: null, disable: 'failing', failingSince }
  const delayMs = delayAfter(attempt)
  const nextAttempt = delayMs === null ? null : Math.min(now + delayMs, disableAt)
  return { nextAttempt, disable: null, failingSince }
}
