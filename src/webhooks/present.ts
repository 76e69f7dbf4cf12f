import type { Webhook, WebhookDelivery } from '../domain/event/webhook.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

export const presentWebhook = (webhook: Webhook) => {
  const {
    id,
    url,
    events,
    devices,
    groups,
    description,
    enabled,
    disabledReason,
    creation,
    lastModified,
  } = webhook
  return {
    id,
    url,
    events,
    devices,
    groups,
    description,
    enabled,
    disabledReason,
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}

export const presentDelivery = (delivery: WebhookDelivery) => {
  const {
    id,
    status,
    sequences,
    attempts,
    attemptsByHand,
    responseCode,
    failure,
    durationMs,
    answer,
    creation,
    lastAttempt,
    nextAttempt,
  } = delivery
  return {
    id,
    status,
    events: sequences.length || 1,
    firstSequence: sequences[0] ?? null,
    lastSequence: sequences.at(-1) ?? null,
    attempts,
    attemptsByHand,
    responseCode,
    failure,
    durationMs,
    answer,
    creation: iso(creation),
    lastAttempt: isoOrNull(lastAttempt),
    nextAttempt: isoOrNull(nextAttempt),
  }
}
