import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { alertItem, locationOrContact, readLocation, requireIdentifier } from '../decoding/items.ts'
import { Items, type Note, type Provider, type Push, Unreadable } from '../decoding/push.ts'
import {
  fromSeconds,
  listOf,
  numberOf,
  parseJson,
  requireInstant,
  textOf,
} from '../decoding/values.ts'

/* flespi streams: a list of messages with dotted names. */

const ALARM = 'Alarm'

const FIELDS = {
  latitude: 'position.latitude',
  longitude: 'position.longitude',
  speed: 'position.speed',
  course: 'position.direction',
  altitude: 'position.altitude',
  battery: 'battery.level',
} as const

const OWN = new Set<string>([...Object.values(FIELDS), 'ident', 'timestamp', 'position.valid'])

const attributesOf = (message: JsonObject): JsonObject =>
  Object.fromEntries(Object.entries(message).filter(([name]) => !OWN.has(name)))

const decodeMessage = (message: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(message.ident, 'ident')
  const dateTime = requireInstant(fromSeconds(message.timestamp), 'timestamp')
  const origin = { identifier, key: `${identifier}:${textOf(message.timestamp)}` }
  const hasFix =
    numberOf(message[FIELDS.latitude]) !== undefined && message['position.valid'] !== false
  const location = hasFix
    ? readLocation(
        {
          dateTime,
          ...Object.fromEntries(
            Object.entries(FIELDS).map(([name, dotted]) => [name, message[dotted]]),
          ),
          attributes: attributesOf(message),
          source: 'gnss',
        },
        note,
      )
    : null
  const isAlarm = message['alarm.event.trigger'] === true
  return [
    locationOrContact(origin, location),
    ...(isAlarm ? [alertItem(origin, ALARM, { dateTime, location })] : []),
  ]
}

const decode = (push: Push): Items => {
  const sent = listOf(parseJson(push))
  if (!sent.every(isObject)) throw new Unreadable('The body is not a list of messages.')
  return new Items().addEach(sent, 'Message', decodeMessage)
}

export const flespi: Provider = { decode }
