import { CHANNELS, type Channel } from './alert.ts'

/*
 * How many messages an account may send on one day of its time zone: they cost the operator money,
 * and the account sets all other limits itself. An SMS counts once for each of its segments.
 */

export type MessageCounts = Record<Channel, number>

/** What the operator has set for an account; null for the default. */
export type MessageOverrides = Record<Channel, number | null>

export const forEachChannel = <T>(toValue: (channel: Channel) => T): Record<Channel, T> =>
  Object.fromEntries(CHANNELS.map((channel) => [channel, toValue(channel)])) as Record<Channel, T>

export const NO_MESSAGE_OVERRIDES: MessageOverrides = forEachChannel(() => null)

export const MAX_MESSAGES_PER_DAY = 10_000_000

/** The default for each license. */
export const DEFAULT_MESSAGES_PER_LICENSE: MessageCounts = {
  Email: 100,
  SMS: 20,
  Push: 1000,
  Voice: 20,
}

const PART = /^(\w+) +(\d{1,8})$/

/** Reads text such as `Email 100, SMS 20`. A channel left out has its default; null for a fault. */
export const parseMessagesPerLicense = (text: string): MessageCounts | null => {
  const counts = { ...DEFAULT_MESSAGES_PER_LICENSE }
  for (const part of text.split(',').filter((one) => one.trim() !== '')) {
    const [, name, count] = PART.exec(part.trim()) ?? []
    const channel = CHANNELS.find((one) => one === name)
    if (!channel || Number(count) > MAX_MESSAGES_PER_DAY) return null
    counts[channel] = Number(count)
  }
  return counts
}

/** An account without licenses has the budget of one license. */
export const effectiveMessageBudgets = (
  overrides: MessageOverrides,
  perLicense: MessageCounts,
  licenses: number,
): MessageCounts =>
  forEachChannel((channel) => overrides[channel] ?? perLicense[channel] * Math.max(1, licenses))

const RESERVE_SHARE = 0.2
const MIN_RESERVE = 20

/** What emergencies may send beyond the budget, and nothing else. */
export const emergencyReserve = (budget: number): number =>
  Math.max(MIN_RESERVE, Math.ceil(budget * RESERVE_SHARE))

/** How many messages of a device's emergencies go out by each channel, whatever the budget says. */
export const EMERGENCY_FLOOR = 20

const MIN_RESETS = 20
const MAX_RESETS = 100

/** How many password resets an account may send in 24 hours: a tenth of its budget for e-mails. */
export const resetLimit = (emails: number): number =>
  Math.min(MAX_RESETS, Math.max(MIN_RESETS, Math.ceil(emails / 10)))

/** Overrides as they are stored; null for none. */
export const parseMessageOverrides = (stored: string | null): MessageOverrides => ({
  ...NO_MESSAGE_OVERRIDES,
  ...(stored === null ? {} : (JSON.parse(stored) as Partial<MessageOverrides>)),
})

export const storeMessageOverrides = (overrides: MessageOverrides): string | null =>
  Object.values(overrides).every((budget) => budget === null) ? null : JSON.stringify(overrides)
