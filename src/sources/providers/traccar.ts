import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import type { Location } from '../../domain/track/location.ts'
import { alertNamesOf } from '../decoding/alarmNames.ts'
import { alertItem, locationOrContact, readLocation, requireIdentifier } from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import {
  fromText,
  KNOTS,
  numberOf,
  objectOf,
  parseJson,
  requireInstant,
  scaledBy,
  textOf,
} from '../decoding/values.ts'

/*
 * Traccar's forwarding of positions and events (`forward.type=json`). `position.id` is 0 at first and
 * set in a retry, so neither it nor a hash of the body identifies a position.
 */

/** Traccar's fix time of a device that never had one. */
const NO_FIX_BEFORE = Date.UTC(2000, 0, 1)

const hasFix = (position: JsonObject, fixTime: number): boolean =>
  fixTime >= NO_FIX_BEFORE && position.valid !== false && position.outdated !== true

const toFix = (position: JsonObject, fixTime: number, note: Note): Location | null => {
  const { batteryLevel, ...attributes } = objectOf(position.attributes)
  const accuracy = numberOf(position.accuracy)
  return readLocation(
    {
      dateTime: fixTime,
      latitude: position.latitude,
      longitude: position.longitude,
      altitude: position.altitude,
      speed: scaledBy(position.speed, KNOTS),
      course: position.course,
      accuracy: accuracy === 0 ? undefined : accuracy,
      battery: batteryLevel,
      attributes,
      source: attributes.approximate === true ? 'network' : 'gnss',
    },
    note,
  )
}

/** Events by which Traccar tells that a device does not report: no sign of life. */
const ABSENCES = ['deviceOffline', 'deviceUnknown', 'deviceInactive']

/** Both come with an alarm when positions and events are forwarded; the same time makes them one. */
const readPosition = (
  identifier: string,
  position: JsonObject,
  note: Note,
): { location: Location | null; deviceTime: number; key: string } => {
  const fixTime = requireInstant(fromText(position.fixTime), 'fixTime')
  const deviceTime = fromText(position.deviceTime) ?? fixTime
  const location = hasFix(position, fixTime) ? toFix(position, fixTime, note) : null
  return { location, deviceTime, key: `${identifier}:${fixTime}:${deviceTime}` }
}

const decodeBody = (body: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(objectOf(body.device).uniqueId, 'device.uniqueId')
  const event = isObject(body.event) ? body.event : null
  const read = isObject(body.position) ? readPosition(identifier, body.position, note) : null
  if (!event && !read) throw new Unreadable('The body has neither a position nor an event.')
  if (!read && ABSENCES.includes(textOf(event?.type))) return []
  const origin = {
    identifier,
    key: read?.key ?? `${identifier}:event:${textOf(event?.id) || textOf(event?.eventTime)}`,
  }
  const location = read?.location ?? null
  const alarms = event
    ? event.type === 'alarm' && objectOf(event.attributes).alarm
    : objectOf(objectOf(body.position).attributes).alarm
  const names = alertNamesOf(textOf(alarms || ''))
  if (names.length === 0) return [locationOrContact(origin, location)]
  const dateTime = read?.deviceTime ?? requireInstant(fromText(event?.eventTime), 'eventTime')
  return [
    locationOrContact(origin, location),
    ...names.map((name) => alertItem(origin, name, { dateTime, location })),
  ]
}

export const traccar: Provider = {
  decode: (push) => decodeEach(push, [objectOf(parseJson(push))], 'Position', decodeBody),
}
