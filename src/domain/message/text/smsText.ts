import { shortCoordinates } from '../../geo/place.ts'
import {
  alertLabel,
  describeMotion,
  formatShortTime,
  placeOf,
  shortAge,
  shortPlaceAge,
} from '../alertText.ts'
import type { UndeliveredReason } from '../emergency.ts'
import { cutTo, septets, toGsm7 } from '../gsm7.ts'
import { LINK_LENGTH, LINK_MARK } from '../link.ts'
import {
  type AlertDetails,
  linkOf,
  type MessageText,
  type Purpose,
  testMark,
  toOneLine,
} from './messageText.ts'

/*
 * The text of an alert's SMS: coordinates and the link, no map link. One segment if GSM-7 can spell
 * the names; otherwise up to three of UCS-2.
 */

const MAX_GSM7_SEPTETS = 160
/** Three segments: in UCS-2 each of several has 67 characters. */
const MAX_UCS2_LENGTH = 3 * 67
/** With less for the names, the time is written without its zone, which is the recipient's own. */
const MIN_NAMES_SIZE = 40
const MAX_NAME_LENGTH = 64
const MIN_TEXT_SIZE = 8

const PREFIX: Record<Exclude<Purpose['kind'], 'undelivered'> | UndeliveredReason, string> = {
  alert: '',
  escalation: 'No reply yet: ',
  cancelled: 'False alarm: ',
  reopened: 'Not over: ',
  'daily-limit-reached': 'Nobody told: ',
  'message-budget-reached': 'Nobody told: ',
  'drill-limit-reached': 'Nobody told: ',
  'nobody-to-tell': 'Nobody told: ',
  'not-accepted': 'Nobody told: ',
  'not-delivered': 'Nobody told: ',
  'device-expired': 'Expired: ',
}

type SizeOf = (text: string) => number

const ucs2Length: SizeOf = (text) => text.length
const gsm7Length: SizeOf = (text) => septets(text) ?? 0

/** The mark of the link is one character; the link has more. */
export const withLinkLength = (text: string): string =>
  text.replaceAll(LINK_MARK, '0'.repeat(LINK_LENGTH))

const withLinkSize =
  (sizeOf: SizeOf): SizeOf =>
  (text) =>
    sizeOf(withLinkLength(text))

const placePart = ({ alert, purpose, newest, sentAt }: AlertDetails): string => {
  if (purpose.kind === 'cancelled') return ''
  if (newest) return `${shortPlaceAge(newest.time, sentAt)}${shortCoordinates(newest)} `
  const place = placeOf(alert)
  return place ? `${shortAge(alert)}${shortCoordinates(place)} ` : 'No position known. '
}

/** Name and device, cut to a size: each may use what the other leaves of its half. */
const cutNames = (name: string, device: string, maxSize: number, sizeOf: SizeOf): string => {
  const half = Math.floor((maxSize - 2) / 2)
  const deviceSize = Math.max(half, maxSize - 2 - sizeOf(name))
  const shortDevice = cutTo(device, deviceSize, sizeOf)
  return `${cutTo(name, maxSize - 2 - sizeOf(shortDevice), sizeOf)}: ${shortDevice}`
}

/** Adds further parts as far as they fit. */
const append = (text: string, part: string, maxSize: number, sizeOf: SizeOf): string => {
  const space = maxSize - sizeOf(text) - 1
  return part && space > MIN_TEXT_SIZE ? `${text} ${cutTo(part, space, sizeOf)}` : text
}

export const composeSms = (details: AlertDetails, timeZone: string): MessageText => {
  const { purpose, alert, motion, deviceName, newest } = details
  const prefix = `${testMark(alert)}${PREFIX[purpose.kind === 'undelivered' ? purpose.reason : purpose.kind]}`
  const name = toGsm7(toOneLine(alertLabel(alert.name), MAX_NAME_LENGTH))
  const device = toGsm7(toOneLine(deviceName, 100))
  const text = toGsm7(toOneLine(alert.text, 300))
  const place = newest ?? placeOf(alert)
  const hasPlace = purpose.kind !== 'cancelled' && place !== null
  const isGsm7 = [name, device, text].every((part) => septets(part) !== null)
  const sizeOf = withLinkSize(isGsm7 ? gsm7Length : ucs2Length)
  const maxSize = isGsm7 ? MAX_GSM7_SEPTETS : MAX_UCS2_LENGTH

  const time = toGsm7(formatShortTime(alert.dateTime, timeZone))
  const restWith = (when: string) => `, ${when}. ${placePart(details)}${linkOf(details)}`
  const spaceWith = (when: string) => maxSize - sizeOf(prefix + restWith(when))
  const shortTime = time.replace(/ GMT.*$/, '')
  const when = spaceWith(time) < MIN_NAMES_SIZE ? shortTime : time
  const names = cutNames(name, device, spaceWith(when), sizeOf)
  const fixed = `${prefix}${names}${restWith(when)}`

  const firstPlace = newest && newest.source !== 'alert' ? placeOf(alert) : null
  const first = firstPlace ? `First: ${shortCoordinates(firstPlace)}` : ''
  const moves = toGsm7(
    describeMotion(motion)
      .map(([label, value]) => (label === 'Accuracy' ? `+-${value}` : value))
      .join(', '),
  )
  const isRoomFor = (whole: string, part: string) =>
    part !== '' && sizeOf(whole) + 1 + sizeOf(part) <= maxSize
  // The person's own text is worth more than the words, which its map shows too.
  const words = toGsm7((newest ? newest.words : alert.place) ?? '')
  const isSpelled = !isGsm7 || septets(words) !== null
  const hasWords = hasPlace && isSpelled && isRoomFor(text ? `${fixed} ${text}` : fixed, words)
  const withWords = hasWords ? `${fixed} ${words}` : fixed
  const withFirst = isRoomFor(withWords, first) ? `${withWords} ${first}` : withWords
  const withMotion = hasPlace && isRoomFor(withFirst, moves) ? `${withFirst} ${moves}` : withFirst
  return { subject: '', text: append(withMotion, text, maxSize, sizeOf) }
}
