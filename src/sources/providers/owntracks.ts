import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { LOW_BATTERY, MOVEMENT } from '../decoding/alarmNames.ts'
import {
  alertItem,
  locationOrContact,
  originOf,
  readLocation,
  requireIdentifier,
  withFormer,
} from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, type Push, Unreadable } from '../decoding/push.ts'
import { openSecretbox } from '../decoding/secretbox.ts'
import {
  fromSeconds,
  listOf,
  parseJson,
  requireInstant,
  textOf,
  unlessNegative,
} from '../decoding/values.ts'

/* OwnTracks over HTTP. Its messages that are not locations are answered and ignored. */

const NO_KEY = 'The message is encrypted, and the source has no `encryptionKey`.'
const NOT_ENCRYPTED = 'The message is not encrypted, though the source has an `encryptionKey`.'

const ALERTS: Readonly<Record<string, string>> = { '9': LOW_BATTERY, '!': MOVEMENT }

/** Of the app, and no locations. Anything else is a failure. */
const IGNORED = new Set([
  'beacon',
  'card',
  'cmd',
  'configuration',
  'dump',
  'log',
  'lwt',
  'request',
  'status',
  'steps',
  'transition',
  'waypoint',
  'waypoints',
])

const joinNames = (...names: (string | null)[]): string => names.filter(Boolean).join('/')

/**
 * `user/device` of the headers, the topic or the address; else the two letters that the app shows on
 * a map. Earlier releases did not read the address.
 */
const identify = (
  { headers, query }: Push,
  { topic, tid }: JsonObject,
): { identifier: string; former: string } => {
  const named =
    joinNames(headers.get('X-Limit-U'), headers.get('X-Limit-D')) ||
    textOf(topic).replace(/^owntracks\//, '')
  const former = named || textOf(tid)
  return { identifier: named || joinNames(query.get('u'), query.get('d')) || former, former }
}

const decodeLocation = (push: Push, sent: JsonObject, note: Note): SourceItem[] => {
  const named = identify(push, sent)
  const identifier = requireIdentifier(named.identifier, 'X-Limit-U')
  const dateTime = requireInstant(fromSeconds(sent.tst), 'tst')
  const origin = originOf(identifier, textOf(sent._id), `${identifier}:${dateTime}`)
  const location = readLocation(
    {
      dateTime,
      latitude: sent.lat,
      longitude: sent.lon,
      accuracy: sent.acc,
      altitude: sent.alt,
      speed: sent.vel,
      course: unlessNegative(sent.cog),
      battery: sent.batt,
      source: 'gnss',
    },
    note,
  )
  const trigger = textOf(sent.t)
  const alert = Object.hasOwn(ALERTS, trigger) ? ALERTS[trigger] : undefined
  const items = [
    locationOrContact(origin, location),
    ...(alert ? [alertItem(origin, alert, { dateTime, location })] : []),
  ]
  return withFormer(items, named.former)
}

/** The message itself, decrypted where the source has a key. */
const openMessage = ({ settings: { encryptionKey } }: Push, sent: unknown): JsonObject => {
  if (!isObject(sent)) throw new Unreadable('A message must be a JSON object.')
  if (sent._type !== 'encrypted') {
    if (encryptionKey) throw new Unreadable(NOT_ENCRYPTED)
    return sent
  }
  if (!encryptionKey) throw new Unreadable(NO_KEY)
  return openSecretbox(textOf(sent.data), encryptionKey)
}

const decodeMessage = (push: Push, sent: unknown, note: Note): SourceItem[] => {
  const message = openMessage(push, sent)
  if (message._type === 'location') return decodeLocation(push, message, note)
  if (IGNORED.has(textOf(message._type))) return []
  throw new Unreadable('`_type` is missing or is none of OwnTracks.')
}

export const owntracks: Provider = {
  decode: (push) => {
    const sent = push.body.byteLength === 0 ? [] : listOf(parseJson(push))
    return decodeEach(push, sent, 'Message', (one, note) => decodeMessage(push, one, note))
  },
  /** A list of commands for the app; there are none. */
  reply: () => ({ status: 200, contentType: 'application/json', body: '[]' }),
}
