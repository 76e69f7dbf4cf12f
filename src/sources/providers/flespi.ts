import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { MOVEMENT, SPEED_LIMIT } from '../decoding/alarmNames.ts'
import { alertItem, locationOrContact, readFix, requireIdentifier } from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import { fromSeconds, listOf, parseJson, requireInstant, textOf } from '../decoding/values.ts'

/* flespi streams: a list of messages with dotted names. */

/** A member that is true raises the alert. */
const ALERTS: Readonly<Record<string, string>> = {
  'alarm.event.trigger': 'Alarm',
  'towing.event.trigger': MOVEMENT,
  'overspeeding.event.trigger': SPEED_LIMIT,
}

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
  const fields = Object.entries(FIELDS).map(([name, dotted]) => [name, message[dotted]])
  const fix = { dateTime, ...Object.fromEntries(fields), attributes: attributesOf(message) }
  const isValid = message['position.valid'] !== false
  const location = isValid ? readFix({ ...fix, source: 'gnss' }, note) : null
  const alerts = Object.keys(ALERTS).filter((name) => message[name] === true)
  return [
    locationOrContact(origin, location),
    ...alerts.map((name) => alertItem(origin, ALERTS[name] ?? '', { dateTime, location })),
  ]
}

export const flespi: Provider = {
  decode: (push) => {
    const sent = listOf(parseJson(push))
    if (!sent.every(isObject)) throw new Unreadable('The body is not a list of messages.')
    return decodeEach(push, sent, 'Message', decodeMessage)
  },
}
