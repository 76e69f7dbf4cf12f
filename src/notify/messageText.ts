import type { Alert } from '../domain/alert.ts'
import { zoneFormats } from '../domain/day.ts'
import { cutTo, septets, toGsm7 } from '../domain/gsm7.ts'
import { formatCoordinates, mapLink, type Place, shortMapLink } from './place.ts'

/* The text of an alert's messages. */

/** All that the text is composed from, except the recipient's time zone. */
export interface AlertDetails {
  alert: Alert
  deviceName: string
  identifier: string | null
  /** The service's public origin. */
  origin: string
}

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

const quote = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u{2028}\u{2029}]/u)
    .map((line) => `  | ${toOneLine(line, 2000)}`.trimEnd())
    .join('\n')

const timeFormat = (isLong: boolean) =>
  zoneFormats(
    (timeZone) =>
      new Intl.DateTimeFormat('en-GB', {
        timeZone,
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        timeZoneName: 'shortOffset',
        ...(isLong && { weekday: 'short', year: 'numeric', second: '2-digit' }),
      }),
  )
const [longFormat, shortFormat] = [timeFormat(true), timeFormat(false)]

const placeOf = ({ latitude, longitude }: Alert): Place | null =>
  latitude === null || longitude === null ? null : { latitude, longitude }

export const composeEmail = (
  { alert, deviceName, identifier, origin }: AlertDetails,
  timeZone: string,
): MessageText => {
  const name = toOneLine(alert.name, 64)
  const device = toOneLine(deviceName, 100)
  const place = placeOf(alert)
  const lines = [
    `${name} from ${device}`,
    '',
    ...(alert.text.trim() ? [quote(alert.text.trim()), ''] : []),
    `Device:  ${device}${identifier ? ` (${toOneLine(identifier, 64)})` : ''}`,
    `Time:    ${longFormat(timeZone).format(alert.dateTime)} (${timeZone})`,
    ...(place
      ? [`Place:   ${formatCoordinates(place)}`, `Map:     ${mapLink(place)}`]
      : ['Place:   not known']),
    '',
    'To acknowledge this alert:',
    `POST ${origin}/api/alerts/${alert.id}/acknowledge`,
    '',
  ]
  return { subject: toOneLine(`${name}: ${device}`, 150), text: lines.join('\n') }
}

const MAX_GSM7_SEPTETS = 160
/** Three segments: in UCS-2 each of several has 67 characters. */
const MAX_UCS2_LENGTH = 3 * 67
/** Time, place and id leave 53 or more, so part of the device's name still fits. */
const MAX_NAME_LENGTH = 40

const ucs2Length = (text: string): number => text.length

/** One segment if GSM-7 can spell it. The alert's text is cut first, then the device's name. */
export const composeSms = ({ alert, deviceName }: AlertDetails, timeZone: string): MessageText => {
  const place = placeOf(alert)
  const name = toGsm7(toOneLine(alert.name, MAX_NAME_LENGTH))
  const device = toGsm7(toOneLine(deviceName, 100))
  const text = toGsm7(toOneLine(alert.text, 300))
  const time = toGsm7(shortFormat(timeZone).format(alert.dateTime))
  const rest = `, ${time}. ${place ? shortMapLink(place) : 'Place not known.'} Ack: ${alert.id}`
  const isGsm7 = [name, device, text].every((part) => septets(part) !== null)
  const sizeOf = isGsm7 ? (part: string) => septets(part) ?? 0 : ucs2Length
  const maxSize = isGsm7 ? MAX_GSM7_SEPTETS : MAX_UCS2_LENGTH
  // Cut after the conversion: in GSM-7 a bracket takes two septets, and '…' becomes '...'.
  const start = `${cutTo(name, MAX_NAME_LENGTH, sizeOf)}: `
  const named = `${start}${cutTo(device, maxSize - sizeOf(start + rest), sizeOf)}${rest}`
  const space = maxSize - sizeOf(named) - 1
  return { subject: '', text: text && space > 8 ? `${named} ${cutTo(text, space, sizeOf)}` : named }
}
