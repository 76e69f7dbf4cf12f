import type { SourceItem } from '../../domain/account/source.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { LOW_BATTERY, MOVEMENT } from '../decoding/alarmNames.ts'
import {
  alertItem,
  locationOrContact,
  originOf,
  readLocation,
  requireIdentifier,
} from '../decoding/items.ts'
import { decodeEach, type Note, type Provider, type Push } from '../decoding/push.ts'
import { fromSeconds, listOf, parseJson, requireInstant, textOf } from '../decoding/values.ts'

/* OwnTracks over HTTP. Whatever is not a location is answered and ignored. */

const ALERTS: Readonly<Record<string, string>> = { '9': LOW_BATTERY, '!': MOVEMENT }

/** `user/device`, as far as the app tells them; else the two letters that it shows on a map. */
const identify = ({ headers }: Push, { topic, tid }: JsonObject): string => {
  const named = [headers.get('X-Limit-U'), headers.get('X-Limit-D')].filter(Boolean).join('/')
  return named || textOf(topic).replace(/^owntracks\//, '') || textOf(tid)
}

const decodeLocation = (push: Push, sent: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(identify(push, sent), 'X-Limit-U')
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
      course: sent.cog,
      battery: sent.batt,
      source: 'gnss',
    },
    note,
  )
  const trigger = textOf(sent.t)
  const alert = Object.hasOwn(ALERTS, trigger) ? ALERTS[trigger] : undefined
  return [
    locationOrContact(origin, location),
    ...(alert ? [alertItem(origin, alert, { dateTime, location })] : []),
  ]
}

export const owntracks: Provider = {
  decode: (push) => {
    const sent = push.body.byteLength === 0 ? [] : listOf(parseJson(push)).filter(isObject)
    const locations = sent.filter(({ _type: type }) => type === 'location')
    return decodeEach(push, locations, 'Location', (one, note) => decodeLocation(push, one, note))
  },
  /** A list of commands for the app; there are none. */
  reply: () => ({ status: 200, contentType: 'application/json', body: '[]' }),
}
