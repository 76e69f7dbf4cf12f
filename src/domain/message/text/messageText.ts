import { formatCoordinates, mapLink } from '../../geo/place.ts'
import { withoutLinks } from '../../text/links.ts'
import { type Alert, type Motion, SOS } from '../alert.ts'
import {
  alertLabel,
  describeAge,
  describeMotion,
  describePlaceAge,
  formatLongTime,
  placeOf,
} from '../alertText.ts'
import type { UndeliveredReason } from '../emergency.ts'
import { cutTo } from '../gsm7.ts'
import { LINK_MARK, LINK_PATH } from '../link.ts'
import type { NewestPlace } from '../newestPlace.ts'

/* The text of an alert's e-mails. `smsText.ts` has that of its SMS. */

/** Why people get a message about an alert. */
export type Purpose =
  | { kind: 'alert' }
  | { kind: 'escalation'; round: number }
  | { kind: 'undelivered'; reason: UndeliveredReason }
  | { kind: 'cancelled' }
  | { kind: 'reopened' }

/** All that the text is composed from, except the recipient's time zone. */
export interface AlertDetails {
  purpose: Purpose
  alert: Alert
  /** How the device moved at its position, where that is known. */
  motion: Motion
  deviceName: string
  identifier: string | null
  /** The service's public origin. */
  origin: string
  /** Of a later message: the newest place that is known, and when the message is sent. */
  newest?: NewestPlace
  sentAt?: number
}

/** The place of the link in `text` has a mark until the message is sent. */
export interface MessageText {
  subject: string
  text: string
}

/** One line without control or direction characters: a name must not imitate our own lines. */
export const toOneLine = (text: string, maxCharacters: number): string => {
  const line = text
    .replaceAll(
      /[\p{Cc}\p{Zl}\p{Zp}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{feff}]+/gu,
      ' ',
    )
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  return cutTo(line, maxCharacters, (part) => [...part].length)
}

/** A name as an e-mail has it: no mail client makes a link of it. */
export const toName = (name: string, maxCharacters: number): string =>
  withoutLinks(toOneLine(name, maxCharacters))

const quote = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u{2028}\u{2029}]/u)
    .map((line) => `  | ${toOneLine(line, 2000)}`.trimEnd())
    .join('\n')

export const linkOf = ({ origin }: AlertDetails): string => `${origin}${LINK_PATH}${LINK_MARK}`

const NOT_SENT: Record<Exclude<UndeliveredReason, 'device-expired'>, string> = {
  'daily-limit-reached': 'the device has reached its daily limits',
  'message-budget-reached': 'the account has used up its messages of the day',
  'drill-limit-reached': 'the account has used up its messages of drills for the day',
  'nobody-to-tell': 'no user receives its alerts',
  'not-accepted': 'no provider has accepted its messages',
  'not-delivered': 'none of its messages is known to have arrived',
}

/** Stands first in subject and text of every message of a drill. */
export const testMark = ({ test }: Alert): string => (test ? 'TEST: ' : '')

const TEST_LINE = 'This is a test of the emergency chain. There is no emergency.'

/** What happened, in one line. */
export const headline = ({ purpose, alert, deviceName }: AlertDetails): string => {
  const name = toName(alertLabel(alert.name), 64)
  const device = toName(deviceName, 100)
  if (purpose.kind === 'alert') return `${name} from ${device}`
  if (purpose.kind === 'cancelled') return `Cancelled, false alarm: ${name} from ${device}`
  if (purpose.kind === 'reopened') return `Reopened, it is not over: ${name} from ${device}`
  if (purpose.kind === 'escalation')
    return `Not acknowledged yet (reminder ${purpose.round}): ${name} from ${device}`
  const sent = alert.name === SOS ? 'an SOS' : name
  if (purpose.reason === 'device-expired')
    return `${device}, whose license has expired, sent ${sent}`
  return `${device} sent ${sent}, and nobody was told: ${NOT_SENT[purpose.reason]}`
}

const labelled = (label: string, value: string): string => `${`${label}:`.padEnd(10)}${value}`

/** Lines under the one before, each if there is one. */
const below = (...values: (string | null | undefined)[]): string[] =>
  values.filter(Boolean).map((value) => `${' '.repeat(10)}${value}`)

const newestLines = (newest: NewestPlace, { alert, motion, sentAt }: AlertDetails): string[] => {
  const first = placeOf(alert)
  return [
    labelled('Place', formatCoordinates(newest)),
    ...below(newest.words, `Newest position, ${describePlaceAge(newest.time, sentAt)}`),
    labelled('Map', mapLink(newest)),
    ...describeMotion(motion).map(([label, value]) => labelled(label, value)),
    ...(newest.source === 'alert'
      ? []
      : [labelled('First', first ? formatCoordinates(first) : 'no position known')]),
  ]
}

const positionLines = (details: AlertDetails): string[] => {
  const { alert, motion, newest } = details
  if (newest) return newestLines(newest, details)
  const place = placeOf(alert)
  if (!place) return [labelled('Place', 'no position known')]
  return [
    labelled('Place', formatCoordinates(place)),
    ...below(alert.place, describeAge(alert)),
    labelled('Map', mapLink(place)),
    ...describeMotion(motion).map(([label, value]) => labelled(label, value)),
  ]
}

const linkLines = (details: AlertDetails): string[] => [
  details.purpose.kind === 'cancelled'
    ? 'To see the alert, open this link (valid for 7 days):'
    : 'To see and acknowledge the alert, open this link (valid for 7 days):',
  linkOf(details),
]

export const composeEmail = (details: AlertDetails, timeZone: string): MessageText => {
  const { purpose, alert, deviceName, identifier } = details
  const device = toName(deviceName, 100)
  const subject =
    purpose.kind === 'alert'
      ? `${toName(alertLabel(alert.name), 64)}: ${device}`
      : headline(details)
  const lines = [
    `${testMark(alert)}${headline(details)}`,
    ...(alert.test ? [TEST_LINE] : []),
    '',
    ...(alert.text.trim() ? [quote(alert.text.trim()), ''] : []),
    labelled('Device', `${device}${identifier ? ` (${toName(identifier, 64)})` : ''}`),
    labelled('Time', formatLongTime(alert.dateTime, timeZone)),
    ...positionLines(details),
    '',
    ...linkLines(details),
    '',
  ]
  return { subject: toOneLine(`${testMark(alert)}${subject}`, 150), text: lines.join('\n') }
}
