import type { SourceItem } from '../../domain/account/source.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import type { Location } from '../../domain/track/location.ts'
import {
  locationOrContact,
  type PayloadFix,
  readLocation,
  requireIdentifier,
} from '../decoding/items.ts'
import { Items, type Note, type Provider, type Push } from '../decoding/push.ts'
import { readSignedFields } from '../decoding/rock7Jwt.ts'
import { fromText, numberOf, requireInstant, scaledBy, textOf } from '../decoding/values.ts'
import { METRES_PER_CEP } from './rockblock.ts'

/* Rock 7 Core (RockSTAR, RockFLEET, RockAIR). A session may report twice with one `momsn`. */

/** Kept as they are: their units or values are not documented. */
const RAW = [
  'sog',
  'averageSog',
  'averageCog',
  'pdop',
  'power',
  'trigger',
  'transport',
  'alert',
  'waypoint',
  'message_ack',
] as const

const toAttribute = (value: unknown): unknown => {
  if (value === 'true' || value === 'false') return value === 'true'
  return numberOf(value) ?? value
}

const attributesOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    RAW.flatMap((name) => (textOf(fields[name]) === '' ? [] : [[name, toAttribute(fields[name])]])),
  )

const ownPosition = ({ lat, lon }: JsonObject) => ({
  latitude: lat,
  longitude: lon,
  source: 'gnss' as const,
})

const networkPosition = (fields: JsonObject) => ({
  latitude: fields.iridium_latitude,
  longitude: fields.iridium_longitude,
  accuracy: scaledBy(fields.cep ?? fields.iridium_cep, METRES_PER_CEP) || undefined,
  source: 'network' as const,
})

const toFix = (fields: JsonObject, dateTime: number, note: Note): Location | null => {
  const isOwn = numberOf(fields.lat) !== undefined
  if (!isOwn && numberOf(fields.iridium_latitude) === undefined) return null
  const fix: PayloadFix = {
    dateTime,
    ...(isOwn ? ownPosition(fields) : networkPosition(fields)),
    altitude: fields.alt,
    course: fields.cog,
    temperature: fields.temp,
    battery: fields.battery,
    attributes: attributesOf(fields),
  }
  return readLocation(fix, note)
}

const decodeFields = (fields: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(fields.imei, 'imei')
  const dateTime = requireInstant(fromText(fields.at ?? fields.transmit_time), 'at')
  const origin = { identifier, key: textOf(fields.id) || `${identifier}:${dateTime}` }
  return [locationOrContact(origin, toFix(fields, dateTime, note))]
}

const decode = async (push: Push): Promise<Items> =>
  new Items().addEach([await readSignedFields(push)], 'Report', decodeFields)

export const rock7: Provider = { decode }
