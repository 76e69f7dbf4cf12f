import type { Decoded, SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import type { Location } from '../../domain/track/location.ts'
import { LOW_BATTERY, MOVEMENT } from '../decoding/alarmNames.ts'
import { bytesOfHex } from '../decoding/bytes.ts'
import {
  alertItem,
  bytesItem,
  contactItem,
  locationOrContact,
  requireIdentifier,
  toLocation,
} from '../decoding/items.ts'
import {
  decodeEach,
  limitParts,
  type Provider,
  type ProviderReply,
  type Push,
  Unreadable,
} from '../decoding/push.ts'
import { fromSeconds, listOf, objectOf, requireInstant, rounded } from '../decoding/values.ts'
import { escapeXml, parsedXml, parseXml, xmlText } from '../decoding/xml.ts'

/* Globalstar SmartOne: nine bytes in an XML envelope, and an XML receipt. */

const TYPES = { standard: 0, nonLocation: 3 } as const
const LEFT_ITS_AREA = 2
const REPLACE_BATTERY = 22

const bit = (byte: number, at: number): boolean => ((byte >> at) & 1) === 1

/** Three bytes as a signed fraction of `range`. One step is some metres, so six digits suffice. */
const signedAngle = (bytes: Uint8Array, offset: number, range: number): number => {
  const [high = 0, middle = 0, low = 0] = bytes.subarray(offset, offset + 3)
  const raw = (high << 16) | (middle << 8) | low
  return rounded(((raw >= 0x800000 ? raw - 0x1000000 : raw) * range) / 0x800000)
}

const toFix = (bytes: Uint8Array, dateTime: number): Location => {
  const [inputs = 0, state = 0] = bytes.subarray(7, 9)
  return toLocation({
    dateTime,
    latitude: signedAngle(bytes, 1, 90),
    longitude: signedAngle(bytes, 4, 180),
    inputs: [
      { triggered: bit(inputs, 0), open: bit(inputs, 1) },
      { triggered: bit(inputs, 2), open: bit(inputs, 3) },
    ],
    attributes: {
      subtype: inputs >> 4,
      vibrationTriggered: bit(state, 3),
      vibrating: bit(state, 4),
      fix2D: bit(state, 5),
      inMotion: bit(state, 6),
      reducedConfidence: bit(state, 7),
    },
    source: 'gnss',
  })
}

const decodeMessage = (message: JsonObject, messageId: string): SourceItem[] => {
  const identifier = requireIdentifier(xmlText(message.esn), 'esn')
  const unixTime = xmlText(message.unixTime)
  const dateTime = requireInstant(fromSeconds(unixTime), 'unixTime')
  const origin = { identifier, key: `${messageId}:${identifier}:${unixTime}` }
  const bytes = bytesOfHex(xmlText(message.payload))
  const [first] = bytes ?? []
  if (!bytes || first === undefined) throw new Unreadable('`payload` is missing or is not hex.')
  const type = first & 3
  if (type === TYPES.nonLocation) {
    const isLow = first >> 2 === REPLACE_BATTERY
    const occasion = { dateTime, location: null }
    return [contactItem(origin), ...(isLow ? [alertItem(origin, LOW_BATTERY, occasion)] : [])]
  }
  if (type !== TYPES.standard) return [contactItem(origin), bytesItem(origin, dateTime, bytes)]
  if (bytes.byteLength < 9) throw new Unreadable('`payload` has fewer than 9 bytes.')
  const location = bit(first, 3) ? null : toFix(bytes, dateTime)
  const occasion = { dateTime, location }
  const hasLeft = (bytes[7] ?? 0) >> 4 === LEFT_ITS_AREA
  return [
    locationOrContact(origin, location),
    ...(bit(first, 2) ? [alertItem(origin, LOW_BATTERY, occasion)] : []),
    ...(hasLeft ? [alertItem(origin, MOVEMENT, occasion, 'Left its area.')] : []),
  ]
}

/** By an envelope with attributes alone Globalstar checks that somebody answers. */
const isEmptyEnvelope = (envelope: unknown): boolean =>
  envelope === '' ||
  (isObject(envelope) && Object.keys(envelope).every((name) => name.startsWith('@')))

/** Provisioning messages speak of devices, not of positions: nothing is made of them. */
const decode = async (push: Push): Promise<Decoded> => {
  const xml = await parseXml(push)
  if (xml.prvmsgs !== undefined) return { items: [], failures: [] }
  const envelope = objectOf(xml.stuMessages)
  const messages = limitParts(listOf(envelope.stuMessage)).map(objectOf)
  if (messages.length === 0 && !isEmptyEnvelope(xml.stuMessages))
    throw new Unreadable('The body has no stuMessage.')
  const messageId = xmlText(envelope['@messageID'])
  return decodeEach(push, messages, 'Message', (one) => decodeMessage(one, messageId))
}

/** `25/03/2020 03:02:32 GMT` */
const stamp = (now: number): string => {
  const text = new Date(now).toISOString()
  return `${text.slice(8, 10)}/${text.slice(5, 7)}/${text.slice(0, 4)} ${text.slice(11, 19)} GMT`
}

const reply = (push: Push): ProviderReply => {
  // A payload that cannot be read is kept as failed, and gets its receipt all the same.
  const xml = parsedXml(push) ?? {}
  const isProvisioning = xml.prvmsgs !== undefined
  const root = isProvisioning ? 'prvResponseMsg' : 'stuResponseMsg'
  const sentId = isProvisioning
    ? objectOf(xml.prvmsgs)['@prvMessageID']
    : objectOf(xml.stuMessages)['@messageID']
  const attributes = `deliveryTimeStamp="${stamp(push.now)}" messageID="${'0'.repeat(32)}" correlationID="${escapeXml(xmlText(sentId))}"`
  return {
    status: 200,
    contentType: 'text/xml',
    body: `<?xml version="1.0" encoding="utf-8"?><${root} ${attributes}><state>pass</state><stateMessage>Store OK</stateMessage></${root}>`,
  }
}

export const globalstar: Provider = { decode, reply }
