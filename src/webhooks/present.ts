import type { Webhook, WebhookDelivery } from '../domain/event/webhook.ts'
import { type OutputSettings, SETTINGS_OF } from '../domain/output/output.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

/** With null for every setting of the format that is not set, and for the token. */
const shownSettings = ({ format, settings }: Pick<Webhook, 'format' | 'settings'>) => {
  const shown: OutputSettings & { token?: null } = settings
  return Object.fromEntries(SETTINGS_OF[format].map((name) => [name, shown[name] ?? null]))
}

export const presentWebhook = ({ since, version, ...webhook }: Webhook) => ({
  ...webhook,
  settings: shownSettings(webhook),
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
