import type { Webhook } from '../domain/webhook.ts'
import { iso } from '../http/wire.ts'

export const presentWebhook = (webhook: Webhook) => {
  const { id, url, events, devices, groups, description, enabled, disabledReason, creation, lastModified } = webhook
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
