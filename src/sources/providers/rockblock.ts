import type { SourceItem } from '../../domain/account/source.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { bytesOfHex } from '../decoding/bytes.ts'
import { bytesItem, locationOrContact, readFix, requireIdentifier } from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import { readSignedFields } from '../decoding/rock7Jwt.ts'
import { fromText, requireInstant, scaledBy, textOf } from '../decoding/values.ts'

/* RockBLOCK: a form or JSON. Iridium derives the position, with a radius (CEP) in kilometres. */

export const METRES_PER_CEP = 1000

/** Where Iridium has found the device. A radius of 0 is none. */
export const iridiumPosition = (fields: JsonObject, cep: unknown) => ({
  latitude: fields.iridium_latitude,
  longitude: fields.iridium_longitude,
  accuracy: scaledBy(cep, METRES_PER_CEP) || undefined,
  source: 'network' as const,
})

const decodeFields = (fields: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(fields.imei, 'imei')
  const dateTime = requireInstant(fromText(fields.transmit_time), 'transmit_time')
  // `momsn` wraps after 65535.
  const origin = { identifier, key: `${identifier}:${textOf(fields.momsn)}:${dateTime}` }
  const bytes = bytesOfHex(textOf(fields.data))
  if (!bytes) note(new Unreadable('`data` is not hex.'))
  const location = readFix({ dateTime, ...iridiumPosition(fields, fields.iridium_cep) }, note)
  const located = locationOrContact(origin, location)
  // Without data it is a check of the mailbox.
  return bytes && bytes.byteLength > 0 ? [located, bytesItem(origin, dateTime, bytes)] : [located]
}

export const rockblock: Provider = {
  decode: async (push) => decodeEach(push, [await readSignedFields(push)], 'Message', decodeFields),
}
