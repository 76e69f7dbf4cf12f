import type { Resource } from '../account/resource.ts'
import type { OutputFormat, OutputSettings } from '../output/output.ts'

/**
 * The members of a webhook that a client can write. Empty `devices` and `groups` mean all, so the
 * id of a deleted device or group stays: without it the webhook would receive every event.
 */
export interface WebhookRecord {
  url: string
  events: string[]
  devices: string[]
  groups: string[]
  description: string
  enabled: boolean
  format: OutputFormat
  settings: OutputSettings
}

/** Why the service disabled a webhook: its receiver replied 410, or failed for five days. */
export const DISABLED_REASONS = ['gone', 'failing'] as const
export type DisabledReason = (typeof DISABLED_REASONS)[number]

export interface Webhook extends WebhookRecord, Resource {
  disabledReason: DisabledReason | null
  /** The account's last event when the webhook was created or enabled; it receives later ones. */
  since: number
}

export const MAX_WEBHOOKS = 50
/** Events in one delivery. */
export const MAX_EVENTS = 100

/**
 * Why an attempt failed; `disabled` if the webhook was disabled before it succeeded, `unconfirmed` if
 * a broker accepted the connection and did not confirm what was published.
 */
export type DeliveryFailure =
  | 'status'
  | 'redirect'
  | 'timeout'
  | 'unreachable'
  | 'unconfirmed'
  | 'refused-url'
  | 'disabled'

/** Events that were sent to a receiver, or are still to be sent. */
export interface WebhookDelivery {
  number: number
  id: string
  webhookId: string
  /** The numbers of its events; none for a test. */
  sequences: number[]
  status: 'pending' | 'delivered' | 'failed'
  attempts: number
  /** Attempts that a client requested. They do not count against the ten automatic ones. */
  attemptsByHand: number
  responseCode: number | null
  failure: DeliveryFailure | null
  durationMs: number | null
  answer: string | null
  creation: number
  lastAttempt: number | null
  nextAttempt: number | null
}
