import type { SourceItem } from '../../domain/account/source.ts'
import { SOS } from '../../domain/message/alert.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import type { Location } from '../../domain/track/location.ts'
import { alertNameOf, LOW_BATTERY } from '../decoding/alarmNames.ts'
import { bytesOfBase64 } from '../decoding/bytes.ts'
import {
  alertItem,
  bytesItem,
  contactItem,
  locationItem,
  type Origin,
  originOf,
  readFix,
  readLocation,
  requireIdentifier,
  withFormer,
} from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import {
  firstTextOf,
  fromText,
  listOf,
  numberOf,
  objectOf,
  parseJson,
  scaledBy,
  textOf,
} from '../decoding/values.ts'
import { METRES_PER_CEP } from './rockblock.ts'

/* Cloudloop LingoMO: Iridium SBD, tracking devices (P6) and SmartOne. */

/** Parts of a time that are 0 are left out. SmartOne has them as `date.Year` and `time.Hour`. */
const readTime = (value: unknown): number | undefined => {
  if (!isObject(value)) return fromText(value)
  const parts = { ...objectOf(value.date), ...objectOf(value.time), ...value }
  const named = new Map(Object.entries(parts).map(([name, at]) => [name.toLowerCase(), at]))
  const part = (name: string) => numberOf(named.get(name)) ?? 0
  const year = numberOf(named.get('year'))
  if (year === undefined || year < 1970 || year > 9999) return undefined
  const at = Date.UTC(
    year,
    part('month') - 1,
    part('day'),
    part('hour'),
    part('minute'),
    part('second'),
  )
  return Number.isFinite(at) ? at : undefined
}

const networkFix = (sbd: JsonObject, dateTime: number, note: Note): Location | null => {
  if (!isObject(sbd.location)) return null
  const { latitude, longitude, cep } = sbd.location
  const accuracy = scaledBy(cep, METRES_PER_CEP) || undefined
  return readLocation({ dateTime, latitude, longitude, accuracy, source: 'network' }, note)
}

const TYPE_PREFIX = 'MO_MESSAGE_'
const EMERGENCIES = ['HIGH_PRIORITY', 'DEAD_MAN']

/** Ours for a message type such as `MO_MESSAGE_ALERT_POWER_LOSS_NO_FIX`; null for an ordinary report. */
const alertOf = (type: string): string | null => {
  const alarm = /^ALERT_(.+?)(_NO_FIX)?$/.exec(type.replace(TYPE_PREFIX, ''))?.[1]
  if (!alarm) return null
  return EMERGENCIES.includes(alarm) ? SOS : alertNameOf(alarm)
}

/** The message, and what its items are made from. */
interface Received {
  origin: Origin
  dateTime: number
  note: Note
}

/** A latitude or longitude that is 0 may be left out. */
const isZero = (value: unknown): boolean => value === undefined || numberOf(value) === 0

const decodeP6 = (
  mo: JsonObject,
  { origin, dateTime: sessionAt, note }: Received,
): SourceItem[] => {
  const { at, latlng } = objectOf(objectOf(mo.position).standard)
  const dateTime = readTime(at) ?? readTime(mo.at) ?? sessionAt
  const { latitude, longitude } = objectOf(latlng)
  const fix = { dateTime, latitude, longitude, source: 'gnss' } as const
  const type = textOf(mo.type)
  const isEmpty = type.endsWith('_NO_FIX') || (isZero(latitude) && isZero(longitude))
  const location = isEmpty ? null : readLocation(fix, note)
  const name = alertOf(type)
  return [
    ...(location ? [locationItem(origin, location)] : []),
    ...(name ? [alertItem(origin, name, { dateTime, location })] : []),
  ]
}

const ENUM_PREFIX = /^(BATTERY_STATE|GPS_STATUS)_/
const BATTERY_IN_ORDER = ['', 'GOOD', 'UNKNOWN', 'UNSPECIFIED']

const decodeSmartOne = (
  mo: JsonObject,
  { origin, dateTime: receivedAt, note }: Received,
): SourceItem[] => {
  const standard = objectOf(mo.standard)
  const dateTime = readTime(mo.at) ?? receivedAt
  const { lat, lon, moving, fix2D, lowConfidence } = objectOf(standard.position)
  const stateOf = (name: string) => textOf(standard[name]).replace(ENUM_PREFIX, '')
  const hasFix = stateOf('gpsStatus') !== 'INVALID' && (numberOf(lat) !== 0 || numberOf(lon) !== 0)
  const attributes = { moving, fix2D, lowConfidence }
  const fix = { dateTime, latitude: lat, longitude: lon, attributes, source: 'gnss' } as const
  const location = hasFix ? readFix(fix, note) : null
  const isLow = !BATTERY_IN_ORDER.includes(stateOf('batteryState'))
  return [
    ...(location ? [locationItem(origin, location)] : []),
    ...(isLow ? [alertItem(origin, LOW_BATTERY, { dateTime, location })] : []),
  ]
}

/** More than a transmission has bytes for. */
const MAX_P6_MESSAGES = 500

const p6MessagesOf = (body: JsonObject, note: Note): JsonObject[] => {
  const messages = listOf(objectOf(body.p6).messages)
  if (messages.length > MAX_P6_MESSAGES)
    note(new Unreadable(`\`p6.messages\` must have at most ${MAX_P6_MESSAGES} members.`))
  return messages.slice(0, MAX_P6_MESSAGES).map((message) => objectOf(objectOf(message).mo))
}

const REPORT = /POSITION_REPORT|^MO_MESSAGE_ALERT_/

/** What Cloudloop has decoded, and whether that is all of the bytes that the device has sent. */
const decodeReports = (
  body: JsonObject,
  received: Received,
): { items: SourceItem[]; isComplete: boolean } => {
  const { origin } = received
  const smartOne = objectOf(objectOf(objectOf(body.globalstarMessage).message).mo)
  const isSmartOne = isObject(smartOne.standard)
  const p6 = p6MessagesOf(body, received.note)
  const items = p6.flatMap((mo, index) =>
    decodeP6(mo, { ...received, origin: { ...origin, key: `${origin.key}:${index}` } }),
  )
  return {
    items: isSmartOne ? [...items, ...decodeSmartOne(smartOne, received)] : items,
    isComplete: isSmartOne || (p6.length > 0 && p6.every(({ type }) => REPORT.test(textOf(type)))),
  }
}

/** The first that is there; that of the thing, which is none of the device's, comes last. */
const identify = (body: JsonObject): string => {
  const identity = objectOf(body.identity)
  const hardware = objectOf(identity.hardware)
  const names = [
    hardware.imei,
    objectOf(body.sbd).imei,
    objectOf(body.cellular).imei,
    hardware.esn,
    objectOf(body.globalstar).esn,
    identity.identifier,
    identity.thingId,
  ]
  return firstTextOf(names)
}

/** Earlier releases knew neither an ESN nor the IMEI of a mobile network. */
const identifyFormerly = ({ identity: named, sbd }: JsonObject): string => {
  const identity = objectOf(named)
  return textOf(objectOf(identity.hardware).imei ?? objectOf(sbd).imei ?? identity.thingId)
}

const messagesOf = (message: unknown, { origin, dateTime, note }: Received): SourceItem[] => {
  if (textOf(message) === '') return []
  const bytes = bytesOfBase64(textOf(message))
  if (!bytes) note(new Unreadable('`message` is not base64.'))
  return bytes ? [bytesItem(origin, dateTime, bytes)] : []
}

const decodeBody = (body: JsonObject, now: number, note: Note): SourceItem[] => {
  const sbd = objectOf(body.sbd)
  const identifier = requireIdentifier(identify(body), 'identity.hardware.imei')
  const dateTime = readTime(sbd.sessionAt) ?? readTime(body.receivedAt) ?? now
  const origin = originOf(identifier, textOf(body.id), `${identifier}:${dateTime}`)
  const received = { origin, dateTime, note }
  const reports = decodeReports(body, received)
  // A device's own fix is better than Iridium's.
  const hasOwnFix = reports.items.some(({ kind }) => kind === 'location')
  const location = hasOwnFix ? null : networkFix(sbd, dateTime, note)
  const items = [
    ...(location ? [locationItem(origin, location)] : []),
    ...reports.items,
    ...(reports.isComplete ? [] : messagesOf(body.message, received)),
  ]
  const named = items.length > 0 ? items : [contactItem(origin)]
  return withFormer(named, identifyFormerly(body))
}

export const cloudloop: Provider = {
  decode: (push) => {
    const body = parseJson(push)
    if (!isObject(body)) throw new Unreadable('The body is not a JSON object.')
    return decodeEach(push, [body], 'Message', (one, note) => decodeBody(one, push.now, note))
  },
}
