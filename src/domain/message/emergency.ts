import type { Channel, Recipient } from './alert.ts'
import { recipientsAt } from './channels/channels.ts'

/* Emergencies: which alerts are one, who is notified, and when. */

export interface EmergencyContact {
  name: string
  email?: string | undefined
  phone?: string | undefined
}

export interface Escalation {
  afterMinutes: number
  rounds: number
  /** An acknowledged emergency without a further step is escalated again after so long. */
  againAfterMinutes?: number | null | undefined
  /** Whether the rounds also call people: users who chose calls, and emergency contacts. */
  voice?: boolean | undefined
}

/** The account's settings for emergencies. */
export interface EmergencySettings {
  emergencyContacts: EmergencyContact[]
  /** Null: not set, so that `escalationOf` decides; `off`: nothing is sent again. */
  escalation: Escalation | 'off' | null
  /** Alerts with these names are emergencies. */
  emergencyAlerts: string[]
  /** How many notices the account may send a day. */
  dailyNoticeLimit: { email: number; sms: number }
}

export const DEFAULT_EMERGENCY_SETTINGS: EmergencySettings = {
  emergencyContacts: [],
  escalation: null,
  emergencyAlerts: ['SOSButton'],
  dailyNoticeLimit: { email: 200, sms: 50 },
}

/** Holds where there is an emergency contact and no setting. */
export const DEFAULT_ESCALATION: Escalation = { afterMinutes: 10, rounds: 1 }

/** When an emergency that nobody acknowledges is sent again; null: never. */
export const escalationOf = ({
  escalation,
  emergencyContacts,
}: Pick<EmergencySettings, 'escalation' | 'emergencyContacts'>): Escalation | null => {
  if (escalation === 'off') return null
  return escalation ?? (emergencyContacts.length > 0 ? DEFAULT_ESCALATION : null)
}

export const MAX_EMERGENCY_CONTACTS = 20
export const MAX_EMERGENCY_ALERTS = 50
export const MAX_AFTER_MINUTES = 1440
export const MAX_ROUNDS = 3
export const MAX_NOTICE_LIMIT = 100_000

/** Settings as they are stored; null, or a member left out, for the default. */
export const parseEmergencySettings = (stored: string | null): EmergencySettings => ({
  ...DEFAULT_EMERGENCY_SETTINGS,
  ...(stored === null ? {} : (JSON.parse(stored) as Partial<EmergencySettings>)),
})

/** The settings among other members, in a fixed order: stored texts are compared. */
export const storeEmergencySettings = (settings: EmergencySettings): string => {
  const { emergencyContacts, escalation, emergencyAlerts, dailyNoticeLimit } = settings
  return JSON.stringify({ emergencyContacts, escalation, emergencyAlerts, dailyNoticeLimit })
}

/** The messages' recipients among the account's emergency contacts. */
export const contactRecipients = (
  { emergencyContacts }: EmergencySettings,
  timeZone: string,
  channels?: readonly Channel[],
): Recipient[] =>
  emergencyContacts.flatMap((person) =>
    recipientsAt(person, { timeZone, contact: person.name }, channels),
  )

export const MINUTE_MS = 60_000
/** An emergency joins an open one of the same device and name within this time. */
export const JOIN_WITHIN_MS = 60 * MINUTE_MS
/** If no provider has accepted a message of an emergency by then, the account is notified. */
export const UNDELIVERED_AFTER_MS = 2 * MINUTE_MS
/**
 * So long after the first acceptance a receipt must have come. Most come within seconds; a mail
 * server that makes unknown senders wait takes up to five minutes. The first round may come later.
 */
export const RECEIPT_WITHIN_MS = 5 * MINUTE_MS
/** After a bounce, what is still on its way has so long to reach somebody. */
export const RECHECK_AFTER_MS = 30_000
/** The account is notified again that nobody is reached if all messages that said so have failed. */
export const MAX_UNDELIVERED_REPORTS = 3
/** How many messages about an emergency may fail at an address before later ones that join skip it. */
export const MAX_JOINED_MESSAGES = 3
/** Before it is notified again, a mailbox or a provider may recover. */
export const REPORT_AGAIN_AFTER_MS = 2 * MINUTE_MS
/** An expired device raises at most one emergency in this time. */
export const EXPIRED_DEVICE_PAUSE_MS = 10 * MINUTE_MS
/** How many drills an account may run on one day of its time zone. */
export const MAX_DRILLS_PER_DAY = 5
/** How many messages of drills an account may send on one day: no other limit counts them. */
export const MAX_DRILL_MESSAGES_PER_DAY: Record<Channel, number> = {
  Email: 500,
  SMS: 100,
  Push: 500,
  Voice: 20,
}
/** An alert is late if its `dateTime` is this long before its arrival. */
export const LATE_AFTER_MS = 60 * MINUTE_MS
/** How many later places an emergency keeps: the newest ones. */
export const MAX_UPDATES = 500

/** Why an emergency has reached nobody. */
export const UNDELIVERED_REASONS = [
  'daily-limit-reached',
  'message-budget-reached',
  'drill-limit-reached',
  'nobody-to-tell',
  'not-accepted',
  'not-delivered',
  'device-expired',
] as const
export type UndeliveredReason = (typeof UNDELIVERED_REASONS)[number]

/** An emergency that has reached none of its recipients. */
export interface Undelivered {
  reason: UndeliveredReason
  /** How many messages notify administrators and emergency contacts of it. */
  notices: number
}
