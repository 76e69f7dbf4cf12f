import type { Alert } from '../domain/alert.ts'
import { zoneFormats } from '../domain/day.ts'
import { cutTo, septets, toGsm7 } from '../domain/gsm7.ts'
import { coordinates, mapLink, type Place, shortMapLink } from './place.ts'

/* What an alert says to one recipient. */

/** Everything that the words are made of, but for the recipient. */
export interface AlertDetails {
  alert: Alert
  deviceName: string
  identifier: string | null
  /** Where the service is reached. */
  origin: string
}

export interface MessageText {
  subject: string
  text: string
}

/** One line without controls or marks that turn the writing direction: nothing in a name can look like a line of ours. */
const oneLine = (text: string, most: number): string => {
  const line = text
    .replaceAll(
      /[\p{Cc}\p{Zl}\p{Zp}\u{200e}\u{200f}\u{202a}-\u{202e}\u{2066}-\u{2069}\u{feff}]+/gu,
      ' ',
    )
    .replaceAll(/ {2,}/g, ' ')
    .trim()
  return cutTo(line, most, (part) => [...part].length)
}

const quoted = (text: string): string =>
  text
    .split(/\r\n|[\n\r\u{2028}\u{2029}]/u)
    .map((line) => `  | ${oneLine(line, 2000)}`.trimEnd())
    .join('\n')

const format = (long: boolean) =>
  zoneFormats(
    (timeZone) =>
      new Intl.DateTimeFormat('en-GB', {
        timeZone,
        day: 'numeric',
        month: 'short',
        hour: '2-digit',
        minute: '2-digit',
        timeZoneName: 'shortOffset',
        ...(long && { weekday: 'short', year: 'numeric', second: '2-digit' }),
      }),
  )
const [longFormat, shortFormat] = [format(true), format(false)]
const formatted = (at: number, timeZone: string, long: boolean): string =>
  (long ? longFormat : shortFormat)(timeZone).format(at)

const placeOf = ({ latitude, longitude }: Alert): Place | null =>
  latitude === null || longitude === null ? null : { latitude, longitude }

export const composeEmail = (
  { alert, deviceName, identifier, origin }: AlertDetails,
  timeZone: string,
): MessageText => {
  const name = oneLine(alert.name, 64)
  const device = oneLine(deviceName, 100)
  const place = placeOf(alert)
  const lines = [
    `${name} from ${device}`,
    '',
    ...(alert.text.trim() ? [quoted(alert.text.trim()), ''] : []),
    `Device:  ${device}${identifier ? ` (${oneLine(identifier, 64)})` : ''}`,
    `Time:    ${formatted(alert.dateTime, timeZone, true)} (${timeZone})`,
    ...(place
      ? [`Place:   ${coordinates(place)}`, `Map:     ${mapLink(place)}`]
      : ['Place:   not known']),
    '',
    'To acknowledge this alert:',
    `POST ${origin}/api/alerts/${alert.id}/acknowledge`,
    '',
  ]
  return { subject: oneLine(`${name}: ${device}`, 150), text: lines.join('\n') }
}

const SEGMENT = 160
/** In another alphabet a segment of several has 67 characters: three at the most. */
const UCS2_MOST = 3 * 67
/** Of the 53 and more that time, place and id leave: the beginning of the device's name is read beside it. */
const NAME_MOST = 40

const ucs2 = (text: string): number => text.length

/** One segment where name and text can be spelled in its alphabet; what must give way is the text, then the name. */
export const composeSms = ({ alert, deviceName }: AlertDetails, timeZone: string): MessageText => {
  const place = placeOf(alert)
  const name = toGsm7(oneLine(alert.name, NAME_MOST))
  const device = toGsm7(oneLine(deviceName, 100))
  const text = toGsm7(oneLine(alert.text, 300))
  const time = toGsm7(formatted(alert.dateTime, timeZone, false))
  const rest = `, ${time}. ${place ? shortMapLink(place) : 'Place not known.'} Ack: ${alert.id}`
  const plain = [name, device, text].every((part) => septets(part) !== null)
  const size = plain ? (part: string) => septets(part) ?? 0 : ucs2
  const most = plain ? SEGMENT : UCS2_MOST
  // Cut once it is spelled: a bracket takes two, three dots in one take three.
  const head = `${cutTo(name, NAME_MOST, size)}: `
  const named = `${head}${cutTo(device, most - size(head + rest), size)}${rest}`
  const room = most - size(named) - 1
  return { subject: '', text: text && room > 8 ? `${named} ${cutTo(text, room, size)}` : named }
}
