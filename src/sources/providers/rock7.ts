import type { SourceItem } from '../../domain/account/source.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import type { Location } from '../../domain/track/location.ts'
import { locationOrContact, readFix, requireIdentifier } from '../decoding/items.ts'
import { decodeEach, type Note, type Provider } from '../decoding/push.ts'
import { readSignedFields } from '../decoding/rock7Jwt.ts'
import { attributeOf, fromText, numberOf, requireInstant, textOf } from '../decoding/values.ts'
import { iridiumPosition } from './rockblock.ts'

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

/** Confirms a message. Its `battery` is always 0. */
const ACKNOWLEDGE = 'ACKNOWLEDGE'

const attributesOf = (fields: JsonObject): JsonObject =>
  Object.fromEntries(
    RAW.flatMap((name) => (textOf(fields[name]) === '' ? [] : [[name, attributeOf(fields[name])]])),
  )

/** The device's own position, else Iridium's. */
const positionOf = ({ lat, lon, ...fields }: JsonObject) =>
  numberOf(lat) === undefined
    ? iridiumPosition(fields, fields.cep ?? fields.iridium_cep)
    : { latitude: lat, longitude: lon, source: 'gnss' as const }

const toFix = (fields: JsonObject, dateTime: number, note: Note): Location | null =>
  readFix(
    {
      dateTime,
      ...positionOf(fields),
      altitude: fields.alt,
      course: fields.cog,
      temperature: fields.temp,
      battery: fields.trigger === ACKNOWLEDGE ? undefined : fields.battery,
      attributes: attributesOf(fields),
    },
    note,
  )

const decodeFields = (fields: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(fields.imei, 'imei')
  const dateTime = requireInstant(fromText(fields.at ?? fields.transmit_time), 'at')
  const origin = { identifier, key: textOf(fields.id) || `${identifier}:${dateTime}` }
  return [locationOrContact(origin, toFix(fields, dateTime, note))]
}

export const rock7: Provider = {
  decode: async (push) => decodeEach(push, [await readSignedFields(push)], 'Report', decodeFields),
}
