import type { SourceItem } from '../../domain/account/source.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { alertNamesOf } from '../decoding/alarmNames.ts'
import {
  alertItem,
  locationOrContact,
  type PayloadFix,
  readLocation,
  requireIdentifier,
} from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, type Push, Unreadable } from '../decoding/push.ts'
import {
  attributeOf,
  firstTextOf,
  fromMilliseconds,
  fromSeconds,
  fromText,
  isJson,
  listOf,
  METRES_PER_SECOND,
  numberOf,
  objectOf,
  parseFields,
  rounded,
  scaledBy,
  textOf,
  unlessNegative,
} from '../decoding/values.ts'
import { SPEED_UNITS } from '../settings.ts'

/*
 * OsmAnd and Traccar Client: a query, a form or, in newer clients, JSON. Locus has shorter names for
 * the time, the altitude and the accuracy.
 */

/** From here on a number counts milliseconds. */
const FIRST_MILLISECONDS = 2_147_483_647

const readTimestamp = (value: unknown, now: number): number => {
  if (value === undefined || value === null) return now
  const number = numberOf(value)
  const at =
    number === undefined
      ? fromText(value)
      : number >= FIRST_MILLISECONDS
        ? fromMilliseconds(number)
        : fromSeconds(number)
  if (at === undefined) throw new Unreadable('`timestamp` is no time.')
  return at
}

const KNOWN = new Set([
  'id',
  'deviceid',
  'timestamp',
  'time',
  'lat',
  'lon',
  'location',
  'speed',
  'bearing',
  'heading',
  'altitude',
  'alt',
  'accuracy',
  'acc',
  'batt',
  'valid',
  'alarm',
])

const attributesOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) =>
      KNOWN.has(name) ? [] : [[name, attributeOf(value)]],
    ),
  )

/** What both forms come down to. Without coordinates there is no fix. */
interface Reading {
  identifier: unknown
  fix: PayloadFix
  alarm: string
}

const toItems = ({ identifier: named, fix, alarm }: Reading, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(named, 'id')
  const origin = { identifier, key: `${identifier}:${fix.dateTime}` }
  const hasFix = fix.latitude !== undefined && fix.longitude !== undefined
  const location = hasFix ? readLocation(fix, note) : null
  const occasion = { dateTime: fix.dateTime, location }
  return [
    locationOrContact(origin, location),
    ...alertNamesOf(alarm).map((name) => alertItem(origin, name, occasion)),
  ]
}

const readFields = (fields: JsonObject, { now, settings }: Push): Reading => {
  const [lat, lon] = textOf(fields.location).split(',')
  const valid = textOf(fields.valid)
  const isValid = valid === '' || valid === '1' || valid === 'true'
  return {
    identifier: fields.id ?? fields.deviceid,
    alarm: firstTextOf(listOf(fields.alarm)),
    fix: {
      dateTime: readTimestamp(fields.timestamp ?? fields.time, now),
      ...(isValid && { latitude: fields.lat ?? (lat || undefined), longitude: fields.lon ?? lon }),
      altitude: fields.altitude ?? fields.alt,
      speed: scaledBy(fields.speed, SPEED_UNITS[settings.speedUnit ?? 'kn']),
      course: unlessNegative(fields.bearing ?? fields.heading),
      accuracy: fields.accuracy ?? fields.acc,
      battery: fields.batt,
      attributes: attributesOf(fields),
      source: 'gnss',
    },
  }
}

const readBody = (body: JsonObject, location: unknown, now: number): Reading => {
  const sent = objectOf(location)
  const coords = objectOf(sent.coords)
  const { alarm: extraAlarm, ...extras } = objectOf(sent.extras)
  const level = unlessNegative(objectOf(sent.battery).level)
  return {
    identifier: body.device_id,
    alarm: firstTextOf([sent.alarm, body.alarm, extraAlarm]),
    fix: {
      dateTime: readTimestamp(sent.timestamp, now),
      latitude: coords.latitude,
      longitude: coords.longitude,
      altitude: coords.altitude,
      speed: scaledBy(unlessNegative(coords.speed), METRES_PER_SECOND),
      course: unlessNegative(coords.heading),
      accuracy: unlessNegative(coords.accuracy),
      battery: level === undefined ? undefined : rounded(level * 100, 0),
      attributes: {
        ...extras,
        ...(sent.mock !== undefined && { mock: sent.mock }),
      },
      source: 'gnss',
    },
  }
}

export const osmand: Provider = {
  decode: (push) => {
    const fields = parseFields(push)
    const { now } = push
    if (!isJson(push) || fields.device_id === undefined)
      return decodeEach(push, [fields], 'Position', (one, note) =>
        toItems(readFields(one, push), note),
      )
    // A JSON client that was offline may send what it has stored as a list.
    const sent = listOf(fields.location)
    return decodeEach(push, sent.length > 0 ? sent : [null], 'Position', (one, note) =>
      toItems(readBody(fields, one, now), note),
    )
  },
}
