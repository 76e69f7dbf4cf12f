import {
  alertLabel,
  describeAge,
  describePlaceAge,
  formatShortTime,
  placeOf,
} from '../alertText.ts'
import { type AlertDetails, type MessageText, toOneLine } from './messageText.ts'

/* What a telephone call says. The provider adds which keys to press. */

const MAX_NAME = 64
const MAX_TEXT = 200

const DIRECTIONS: Readonly<Record<string, string>> = {
  N: 'north',
  E: 'east',
  S: 'south',
  W: 'west',
}

/** “4.2 km NE of Porto” as it is spoken. */
export const toSpoken = (words: string): string =>
  words
    .replace(/ km (?=[NESW]{1,2} of )/, ' kilometres ')
    .replace(/ m (?=[NESW]{1,2} of )/, ' metres ')
    .replace(/\b([NESW]{1,2})(?= of )/, (letters) =>
      [...letters].map((letter) => DIRECTIONS[letter] ?? letter).join(' '),
    )

const degrees = (value: number, positive: string, negative: string): string =>
  `${Math.abs(value).toFixed(2)} degrees ${value < 0 ? negative : positive}`

const placeSentence = ({ alert, newest, sentAt }: AlertDetails): string => {
  const place = newest ?? placeOf(alert)
  if (!place) return 'Its position is not known.'
  const words = newest ? newest.words : alert.place
  const age = newest ? `, ${describePlaceAge(newest.time, sentAt)}` : ''
  const known = newest ? null : describeAge(alert)
  const where = words
    ? toSpoken(words)
    : `${degrees(place.latitude, 'north', 'south')}, ${degrees(place.longitude, 'east', 'west')}`
  return `${known ?? `Position${age}`}: ${where}.`
}

const OPENING: Readonly<Record<string, string>> = {
  escalation: 'Nobody has acknowledged this yet. ',
  undelivered: 'Nobody was notified of this. ',
  cancelled: 'This was a false alarm. ',
  reopened: 'This is not over. ',
}

export const composeCall = (details: AlertDetails, timeZone: string): MessageText => {
  const { alert, purpose, deviceName } = details
  const text = toOneLine(alert.text, MAX_TEXT)
  const sentences = [
    alert.test ? 'This is a test. There is no emergency.' : alert.emergency ? 'Emergency.' : '',
    `${OPENING[purpose.kind] ?? ''}${toOneLine(alertLabel(alert.name), MAX_NAME)} from ${toOneLine(deviceName, MAX_NAME)}, ${formatShortTime(alert.dateTime, timeZone)}.`,
    placeSentence(details),
    text ? `Message: ${text}` : '',
  ]
  return { subject: '', text: sentences.filter((sentence) => sentence !== '').join(' ') }
}
