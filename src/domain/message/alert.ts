import { ALPHABET, base32Number } from '../text/base32.ts'

export const CHANNELS = ['Email', 'SMS', 'Push', 'Voice'] as const
export type Channel = (typeof CHANNELS)[number]

/** The states of a message. */
export const STATUSES = ['queued', 'sent', 'delivered', 'failed', 'suppressed'] as const
export type Status = (typeof STATUSES)[number]

/** Why messages of an alert are not sent. */
export const SUPPRESSED_REASONS = [
  'daily-limit-reached',
  'reserved-for-emergencies',
  'message-budget-reached',
  'drill-limit-reached',
] as const

/** Where an alert's position comes from. */
export const POSITION_SOURCES = ['reported', 'last-known', 'none'] as const
export type PositionSource = (typeof POSITION_SOURCES)[number]

/** Why a message is sent. Only `alert` and a `command` count against a device's daily limits. */
export const MESSAGE_KINDS = [
  'alert',
  'notice',
  'escalation',
  'invitation',
  'reset',
  'command',
] as const
export type MessageKind = (typeof MESSAGE_KINDS)[number]

export interface Place {
  latitude: number
  longitude: number
}

/** A position with what is known of it. */
export interface Position extends Place {
  time: number
  speed?: number | null | undefined
  course?: number | null | undefined
  accuracy?: number | null | undefined
  /** The place in words, where there are any. */
  words?: string | null | undefined
}

/** How a device moved at its position, where that is known. */
export type Motion = Partial<Pick<Position, 'speed' | 'course' | 'accuracy'>>

export interface Alert {
  id: string
  name: string
  text: string
  dateTime: number
  latitude: number | null
  longitude: number | null
  /** When the position was taken; null if that is not known. */
  positionTime: number | null
  positionSource: PositionSource
  emergency: boolean
  /** Whether it happened more than an hour before it arrived. */
  late: boolean
  /** The rule that raised it, and the zone that it is about. */
  ruleId?: string | null
  zoneId?: string | null
  /** The user, key or source that raised it. */
  raisedBy?: string | null
  /** Whether it is a test of the emergency chain. */
  test?: boolean
  /** Its place in words, where there are any: “4.2 km NE of Porto”. */
  place?: string | null
}

/** The position of an alert: the reported one, else the last known one. */
export const positionOf = (
  reported: Position | null,
  lastKnown: Position | null,
): Pick<Alert, 'latitude' | 'longitude' | 'positionTime' | 'positionSource' | 'place'> => {
  const position = reported ?? lastKnown
  if (!position)
    return { latitude: null, longitude: null, positionTime: null, positionSource: 'none' }
  const { latitude, longitude, time, words: place = null } = position
  const positionSource = reported ? 'reported' : 'last-known'
  return { latitude, longitude, positionTime: time, positionSource, place }
}

/** A later emergency that joined an open one. Null coordinates if it had no place. */
export interface AlertUpdate {
  dateTime: number
  latitude: number | null
  longitude: number | null
  /** Its place in words, where there are any. */
  place?: string | null
}

export const ALERT_STATES = ['open', 'acknowledged', 'resolved', 'cancelled'] as const
/** `acknowledged`: someone handles it. `resolved` and `cancelled`: it is over. */
export type AlertStateName = (typeof ALERT_STATES)[number]

/** Who has acknowledged, resolved or cancelled an alert, and when. */
export interface AlertState {
  acknowledgedAt: number | null
  acknowledgedBy: string | null
  resolvedAt: number | null
  resolvedBy: string | null
  cancelledAt: number | null
  cancelledBy: string | null
  /** How often it was reopened, and how many notes it has. */
  reopened: number
  notes: number
}

export const OPEN_STATE = {
  acknowledgedAt: null,
  acknowledgedBy: null,
  resolvedAt: null,
  resolvedBy: null,
  cancelledAt: null,
  cancelledBy: null,
}
export const NEW_ALERT_STATE: AlertState = { ...OPEN_STATE, reopened: 0, notes: 0 }

export const nameOfState = (
  state: Pick<AlertState, 'acknowledgedAt' | 'resolvedAt' | 'cancelledAt'>,
): AlertStateName => {
  if (state.cancelledAt !== null) return 'cancelled'
  if (state.resolvedAt !== null) return 'resolved'
  return state.acknowledgedAt === null ? 'open' : 'acknowledged'
}

/** What the log of an alert records. */
export const ALERT_ACTIONS = [
  'raised',
  'joined',
  'acknowledged',
  'resolved',
  'cancelled',
  'reopened',
  'noted',
  'escalated',
  'undelivered',
] as const
export type AlertAction = (typeof ALERT_ACTIONS)[number]

export interface AlertLogEntry {
  at: number
  action: AlertAction
  /** The user, key or source; null for what the service did by itself. */
  by: string | null
  /** A note, the number of a round, or a reason. */
  text: string | null
}

export const MAX_NOTE_LENGTH = 2000
export const MAX_NOTES = 200
/** Each time that it is open it may be cancelled, which has notices with numbers of their own. */
export const MAX_REOPENED = 31
/** How many of the emergencies that joined it the log lists one by one. */
export const MAX_LOGGED_JOINS = 50

/** The state of one message. */
export interface MessageSummary {
  id: string
  kind: MessageKind
  channel: Channel
  to: string
  status: Status
  reason: string | null
  /** When the daily limit that suppressed this message allows the next one. */
  resetAt: number | null
  /** The name of the user or contact, where that is known. */
  name?: string | null
  /** When its status last changed. */
  changedAt?: number
  /** The user, or the name of the emergency contact. */
  userId?: string | null | undefined
  contact?: string | null | undefined
}

/** Who a message goes to. Times in its text are in the recipient's time zone. */
export interface Recipient {
  channel: Channel
  to: string
  timeZone: string
  /** The user, or the name of the emergency contact; neither for a message of the account. */
  userId?: string | null | undefined
  contact?: string | null | undefined
}

/** Each address once, though several people may share it. */
export const onePerAddress = (recipients: readonly Recipient[]): Recipient[] => {
  const byAddress = new Map<string, Recipient>()
  for (const recipient of recipients) {
    const address = `${recipient.channel} ${recipient.to.toLowerCase()}`
    if (!byAddress.has(address)) byAddress.set(address, recipient)
  }
  return [...byAddress.values()]
}

export const SOS = 'SOSButton'

/** The device key of messages about the account itself; no device has it. */
export const NO_DEVICE_KEY = 0

/** How many users get messages of one alert, beside the emergency contacts. */
export const MAX_RECIPIENTS = 200

/** How many alerts the reply to a query without `limit` may have. */
export const MAX_SPAN_ALERTS = 10_000
/** How many alerts such a query may search when it has a filter. */
export const MAX_SEARCHED_ALERTS = 100_000

const NUMBER_LENGTH = 4
/** An alert has up to 16 series of so many messages: its own, those of each round, its notices. */
const SERIES_LENGTH = 2 ** 16
/** The series of an alert's messages. Rounds of an escalation have the series 1 to 3. */
export const SERIES = { alert: 0, undelivered: 8, cancelled: 9, reopened: 10 } as const

/** The number of a message within its alert, from its series and the recipient's place in it. */
export const messageNumber = (series: number, index: number): number =>
  series * SERIES_LENGTH + index

/** The series of a message: a number has 20 bits, a character five, and the series the first four. */
export const seriesOf = (message: string): number =>
  ALPHABET.indexOf(message.at(-NUMBER_LENGTH) ?? '') >> 1

/** The place of a message in its series. */
export const indexOf = (message: string): number =>
  [...message.slice(-NUMBER_LENGTH)].reduce((sum, digit) => sum * 32 + ALPHABET.indexOf(digit), 0) %
  SERIES_LENGTH

/**
 * The id of an alert's or a notice's message. It extends theirs by a number: a retry makes the same
 * ids, and the messages of one alert are adjacent.
 */
export const messageId = (parentId: string, index: number): string =>
  `msg_${parentId.slice(4)}${base32Number(index, NUMBER_LENGTH)}`

const parentIdOf = (message: string): string => message.slice(4, -NUMBER_LENGTH)

/** The id of a message's alert. For a message of a notice, no alert has it. */
export const alertIdOf = (message: string): string => `alr_${parentIdOf(message)}`

/** What a message of a device belongs to: a command or an alert. */
export const subjectOf = (message: string, kind: MessageKind) =>
  kind === 'command'
    ? { alertId: null, commandId: `cmd_${parentIdOf(message)}` }
    : { alertId: alertIdOf(message), commandId: null }
