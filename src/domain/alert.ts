import { base32Number } from './base32.ts'

export const CHANNELS = ['Email', 'SMS'] as const
export type Channel = (typeof CHANNELS)[number]

/** The states of a message. */
export const STATUSES = ['queued', 'sent', 'delivered', 'failed', 'suppressed'] as const
export type Status = (typeof STATUSES)[number]

export interface Alert {
  id: string
  name: string
  text: string
  dateTime: number
  latitude: number | null
  longitude: number | null
}

/** The state of one message. */
export interface Delivery {
  id: string
  channel: Channel
  to: string
  status: Status
  reason: string | null
  /** When the daily limit that suppressed this message allows the next one. */
  resetAt: number | null
}

/** Who a message goes to. Times in its text are in the recipient's time zone. */
export interface Recipient {
  channel: Channel
  to: string
  timeZone: string
}

export const SOS = 'SOSButton'
/** Urgent messages go out before all others and are retried soonest. */
export const isUrgent = (alertName: string): boolean => alertName === SOS

/** The device key of messages about the account itself; no device has it. */
export const NO_DEVICE_KEY = 0

/** How many alerts the reply to a query without `limit` may have. */
export const MAX_SPAN_ALERTS = 10_000
/** How many alerts such a query may search when it has a filter. */
export const MAX_SEARCHED_ALERTS = 100_000

const NUMBER_LENGTH = 4

/**
 * The id of an alert's or a notice's message. It extends theirs by a number: a retry makes the same
 * ids, and the messages of one alert are adjacent.
 */
export const messageId = (parentId: string, index: number): string =>
  `msg_${parentId.slice(4)}${base32Number(index, NUMBER_LENGTH)}`

/** The id of a message's alert. For a message of a notice, no alert has it. */
export const alertIdOf = (message: string): string => `alr_${message.slice(4, -NUMBER_LENGTH)}`
