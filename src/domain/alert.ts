import { base32Number } from './base32.ts'

/** By what a message goes out. */
export const CHANNELS = ['Email', 'SMS'] as const
export type Channel = (typeof CHANNELS)[number]

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

/** What became of one message of an alert. */
export interface Delivery {
  id: string
  channel: Channel
  to: string
  status: Status
  reason: string | null
  /** When the next message may go out, where the day's limit suppressed this one. */
  resetAt: number | null
}

/** Someone to be told, by one channel, in the words of their own time zone. */
export interface Recipient {
  channel: Channel
  to: string
  timeZone: string
}

export const SOS = 'SOSButton'
/** Goes out before everything else and is tried again soonest. */
export const isUrgent = (alertName: string): boolean => alertName === SOS

const NUMBER_PLACES = 4

/** A message's id is its alert's and a number: repeats meet the same ids, and an alert's messages lie side by side. */
export const messageId = (alertId: string, index: number): string =>
  `msg_${alertId.slice(4)}${base32Number(index, NUMBER_PLACES)}`

export const alertIdOf = (message: string): string => `alr_${message.slice(4, -NUMBER_PLACES)}`
