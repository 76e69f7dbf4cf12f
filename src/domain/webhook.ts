/** What a client may write of a webhook. Empty `devices` and `groups` leave nothing out. */
export interface WebhookRecord {
  url: string
  events: string[]
  devices: string[]
  groups: string[]
  description: string
  enabled: boolean
}

/** Why a webhook is disabled that nobody disabled: the receiver said 410, failed for five days, or nothing is left that it asks for. */
export const DISABLED_REASONS = ['gone', 'failing', 'nothing-left'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export interface Webhook extends WebhookRecord {
  id: string
  disabledReason: DisabledReason | null
  /** The account's last event when the webhook was made or enabled again: it is told of later ones. */
  since: number
  creation: number
  lastModified: number
  version: number
}

export const MOST_WEBHOOKS = 50
/** Events in one call. */
export const MOST_EVENTS = 100
