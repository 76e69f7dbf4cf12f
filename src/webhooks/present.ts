import type { Webhook, WebhookDelivery } from '../domain/event/webhook.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

export const presentWebhook = ({ since, version, ...webhook }: Webhook) => ({
  ...webhook,
  creation: iso(webhook.creation),
  lastModified: iso(webhook.lastModified),
})

export const presentDelivery = ({ sequences, ...delivery }: WebhookDelivery) => ({
  id: delivery.id,
  status: delivery.status,
  events: sequences.length || 1,
  firstSequence: sequences[0] ?? null,
  lastSequence: sequences.at(-1) ?? null,
  attempts: delivery.attempts,
  attemptsByHand: delivery.attemptsByHand,
  responseCode: delivery.responseCode,
  failure: delivery.failure,
  durationMs: delivery.durationMs,
  answer: delivery.answer,
  creation: iso(delivery.creation),
  lastAttempt: isoOrNull(delivery.lastAttempt),
  nextAttempt: isoOrNull(delivery.nextAttempt),
})
