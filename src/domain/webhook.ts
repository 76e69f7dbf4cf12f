/**
 * What a client may write of a webhook. Empty `devices` and `groups` leave nothing out, and so an id stays in them when what it
 * names is deleted: with the last one gone the webhook would be told of everything.
 */
export interface WebhookRecord {
  url: string
  events: string[]
  devices: string[]
  groups: string[]
  description: string
  enabled: boolean
}

/** Why a webhook is disabled that nobody disabled: the receiver said 410, or failed for five days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const
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

export const MAX_WEBHOOKS = 50
/** Events in one call. */
export const MAX_EVENTS = 100

/** Why an attempt failed; `disabled` where the webhook was, before it got through. */
export type DeliveryFailure =
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'unreachable'
  | 'refused-url'
  | 'disabled'

/** Events brought to a receiver, or still to be. */
export interface WebhookDelivery {
  number: number
  id: string
  webhookId: string
  /** The events that it brings; none for a test. */
  sequences: number[]
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** How many of them somebody asked for: these are beside the ten that come by themselves. */
  attemptsByHand: number
  responseCode: number | null
  failure: DeliveryFailure | null
  durationMs: number | null
  answer: string | null
  creation: number
  lastAttempt: number | null
  nextAttempt: number | null
}
