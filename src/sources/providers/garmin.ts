import type { SourceItem } from '../../domain/account/source.ts'
import { SOS } from '../../domain/message/alert.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { sha256 } from '../../domain/text/sha256.ts'
import type { Location } from '../../domain/track/location.ts'
import { LOW_BATTERY } from '../decoding/alarmNames.ts'
import { bytesOfBase64, hexOf } from '../decoding/bytes.ts'
import {
  alertItem,
  bytesItem,
  cancelItem,
  locationOrContact,
  messageItem,
  type Origin,
  readLocation,
  requireIdentifier,
} from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import {
  fromMilliseconds,
  fromText,
  numberOf,
  objectOf,
  parseJson,
  textOf,
} from '../decoding/values.ts'

/* Garmin inReach, IPC Outbound versions 2 to 4. */

const CODES = { sos: 4, cancelSos: 7, referencePoint: 8 } as const
/** The three check-in messages. */
const CHECK_INS = [14, 15, 16]

/** The lowest that the device can send, which it sends where it knows none. */
const NO_ALTITUDE = -422

/** A point of zeros, or with `gpsFix` 0, is none. A reference point is not where the device is. */
const toFix = (event: JsonObject, dateTime: number, note: Note): Location | null => {
  const point = objectOf(event.point)
  const { latitude, longitude } = point
  if (latitude === undefined || latitude === null || longitude === undefined) return null
  const isEmpty = numberOf(latitude) === 0 && numberOf(longitude) === 0
  if (isEmpty || point.gpsFix === 0 || event.messageCode === CODES.referencePoint) return null
  const { speed, course } = point
  const altitude = numberOf(point.altitude) === NO_ALTITUDE ? undefined : point.altitude
  const fix = { dateTime, latitude, longitude, altitude, speed, course, source: 'gnss' } as const
  return readLocation(fix, note)
}

interface ReadEvent {
  event: JsonObject
  dateTime: number
  /** What tells the event from others of the device. */
  stamp: string
  digest: string
}

const DAY_MS = 86_400_000
/** More than a push of 256 KiB can have of real ones; each costs a hash. */
const MAX_EVENTS = 2500
/** Each repeats the event's text, so their number bounds how large a push becomes. */
const MAX_DEVICES = 20

/**
 * Before version 4 binary events carry no time: the arrival stands for it. The same bytes on the same
 * day are taken for a repeat.
 */
const readEvent = async (sent: unknown, now: number): Promise<ReadEvent> => {
  const event = objectOf(sent)
  const content = `${textOf(event.freeText)}\n${textOf(event.payload)}`
  return {
    event,
    dateTime: fromMilliseconds(event.timeStamp) ?? fromText(event.timeStamp) ?? now,
    stamp: textOf(event.timeStamp) || `day${Math.floor(now / DAY_MS)}`,
    digest: hexOf((await sha256(content)).slice(0, 8)),
  }
}

const messagesOf = (origin: Origin, { event, dateTime }: ReadEvent, note: Note): SourceItem[] => {
  const text = textOf(event.freeText) || textOf(event.transcription)
  if (text !== '') return [messageItem(origin, dateTime, text)]
  if (textOf(event.payload) === '') return []
  const bytes = bytesOfBase64(textOf(event.payload))
  if (!bytes) note(new Unreadable('`payload` is not base64.'))
  return bytes && bytes.byteLength > 0 ? [bytesItem(origin, dateTime, bytes)] : []
}

const decodeFor = (named: string, read: ReadEvent, note: Note): SourceItem[] => {
  const { event, dateTime, stamp, digest } = read
  const identifier = requireIdentifier(named, 'imei')
  const code = numberOf(event.messageCode)
  const isOk = code !== undefined && CHECK_INS.includes(code)
  const origin = {
    identifier,
    key: `${identifier}:${stamp}:${code}:${digest}`,
    ...(isOk && { okAt: dateTime }),
  }
  const location = toFix(event, dateTime, note)
  const occasion = { dateTime, location }
  const text = textOf(event.freeText)
  const isLow = objectOf(event.status).lowBattery === 1
  return [
    locationOrContact(origin, location),
    ...(code === CODES.sos ? [alertItem(origin, SOS, occasion, text)] : []),
    ...(code === CODES.cancelSos ? [cancelItem(origin, SOS, occasion)] : []),
    ...(isLow ? [alertItem(origin, LOW_BATTERY, occasion)] : []),
    ...messagesOf(origin, read, note),
  ]
}

/** One event may be of several devices. */
const devicesOf = ({ event }: ReadEvent, note: Note): string[] => {
  const devices = textOf(event.imei).split(',', MAX_DEVICES + 1)
  if (devices.length > MAX_DEVICES)
    note(new Unreadable(`\`imei\` must name at most ${MAX_DEVICES} devices.`))
  return devices.slice(0, MAX_DEVICES)
}

export const garmin: Provider = {
  decode: async (push) => {
    const { Events: events } = objectOf(parseJson(push))
    if (!Array.isArray(events)) throw new Unreadable('`Events` is missing or is no list.')
    if (events.length > MAX_EVENTS)
      throw new Unreadable(`\`Events\` must have at most ${MAX_EVENTS} members.`)
    const read = await Promise.all(events.map((event) => readEvent(event, push.now)))
    return decodeEach(push, read, 'Event', (one, note) =>
      devicesOf(one, note).flatMap((imei) => decodeFor(imei, one, note)),
    )
  },
}
