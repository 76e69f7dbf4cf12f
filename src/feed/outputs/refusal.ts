import { updateRows } from '../../db/objectTable.ts'
import type { Webhook, WebhookDelivery } from '../../domain/event/webhook.ts'
import { newId } from '../../ids.ts'
import { deliveries } from '../tables.ts'
import type { AttemptResult } from '../webhooks/attempt.ts'
import { insertDelivery } from '../webhooks/deliveries.ts'

/* Deliveries of outputs that their receiver will never take must not hold back the others. */

/** The address, the token or the load may be the reason, and no record in it. */
const RETRIED = [401, 403, 404, 408, 410, 425, 429]
/** Over six minutes: a broker that restarts loses nothing. An alert is not given up so early. */
const MIN_UNCONFIRMED_ATTEMPTS = 4

interface Attempted {
  /** As it was before the attempt. */
  delivery: WebhookDelivery
  /** Whether an alert is in it: a webhook that changed its format has them among its locations. */
  hasAlerts: boolean
  attempts: number
  /** When the lane's last delivery succeeded. */
  succeededAt: number | null
}

/**
 * Whether the receiver has refused what was sent, and would again. A broker cannot say so: it closes
 * the connection or does not reply. A record is the reason only if others have been confirmed in the
 * meantime, and the attempt before failed in the same way.
 */
export const isRefused = (
  { format }: Webhook,
  { responseCode, failure }: AttemptResult,
  { delivery, hasAlerts, attempts, succeededAt }: Attempted,
): boolean => {
  const isAlert = hasAlerts && delivery.sequences.length === 1
  if (failure === 'unconfirmed') {
    if (delivery.sequences.length > 1) return true
    if (isAlert || delivery.failure !== 'unconfirmed') return false
    return (succeededAt ?? 0) > delivery.creation && attempts >= MIN_UNCONFIRMED_ATTEMPTS
  }
  // What stands before the receiver may refuse for a moment: no alert is given up for it.
  if (isAlert) return false
  // A broker's address replies before anything is published.
  if (format === 'json' || format === 'mqtt' || responseCode === null) return false
  return responseCode >= 400 && responseCode < 500 && !RETRIED.includes(responseCode)
}

interface Split {
  isRefused: boolean
  /** The events that are left, once others were sent. */
  rest: number[]
}

/**
 * What is left of a delivery that was sent in part becomes the next one. Of several events that were
 * refused only one may be the reason: each gets a delivery of its own.
 */
export const prepareSplit = async (
  { isRefused, rest }: Split,
  { id: from, webhookId, sequences }: WebhookDelivery,
) => {
  const isSplit = isRefused && sequences.length > 1
  const parts = rest.length > 0 ? [rest] : isSplit ? sequences.map((one) => [one]) : []
  const ids = await Promise.all(parts.map(() => newId('dlv')))
  return (sql: SqlStorage, now: number): WebhookDelivery[] => {
    const sent = sequences.filter((one) => !rest.includes(one))
    if (rest.length > 0) updateRows(sql, deliveries, { sequences: sent }, { id: from })
    return ids.map((id, index) =>
      insertDelivery(sql, { id, webhookId, sequences: parts[index] ?? [], now }),
    )
  }
}

/** A receiver that fails for a while gets the locations soon after it is back. */
const MAX_DELAY_MS = 30 * 60_000
/** As long as the attempts of other deliveries take. */
const GIVE_UP_AFTER_MS = 3 * 86_400_000

export const repeatsOf = ({ format }: Webhook, { creation }: WebhookDelivery) =>
  format === 'json' ? undefined : { until: creation + GIVE_UP_AFTER_MS, maxDelayMs: MAX_DELAY_MS }
