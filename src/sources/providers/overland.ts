import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { locationOrContact, readLocation, requireIdentifier } from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import {
  fromText,
  METRES_PER_SECOND,
  objectOf,
  parseJson,
  requireInstant,
  rounded,
  scaledBy,
  textOf,
  unlessNegative,
} from '../decoding/values.ts'

/* Overland: a list of GeoJSON features. A negative number is unknown. */

const KEPT = ['motion', 'activity', 'battery_state'] as const

const attributesOf = (properties: JsonObject): JsonObject =>
  Object.fromEntries(KEPT.map((name) => [name, properties[name]]))

const decodeFeature = (feature: JsonObject, note: Note): SourceItem[] => {
  const properties = objectOf(feature.properties)
  const named = textOf(properties.device_id) || textOf(properties.unique_id)
  const identifier = requireIdentifier(named, 'device_id')
  const dateTime = requireInstant(fromText(properties.timestamp), 'timestamp')
  const { coordinates } = objectOf(feature.geometry)
  const [longitude, latitude] = Array.isArray(coordinates) ? coordinates : []
  const level = unlessNegative(properties.battery_level)
  const location = readLocation(
    {
      dateTime,
      latitude,
      longitude,
      altitude: properties.altitude,
      speed: scaledBy(unlessNegative(properties.speed), METRES_PER_SECOND),
      course: unlessNegative(properties.course),
      accuracy: unlessNegative(properties.horizontal_accuracy),
      battery: level === undefined ? undefined : rounded(level * 100, 0),
      attributes: attributesOf(properties),
      source: 'gnss',
    },
    note,
  )
  return [locationOrContact({ identifier, key: `${identifier}:${dateTime}` }, location)]
}

export const overland: Provider = {
  decode: (push) => {
    const { locations } = objectOf(parseJson(push))
    if (!Array.isArray(locations) || !locations.every(isObject))
      throw new Unreadable('`locations` is missing or is no list of features.')
    return decodeEach(push, locations, 'Location', decodeFeature)
  },
  /** The app keeps what it sent until it gets this. */
  reply: () => ({ status: 200, contentType: 'application/json', body: '{"result":"ok"}' }),
}
