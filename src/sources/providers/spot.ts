import type { SourceItem } from '../../domain/account/source.ts'
import { SOS } from '../../domain/message/alert.ts'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { LOW_BATTERY, MOVEMENT } from '../decoding/alarmNames.ts'
import {
  alertItem,
  cancelItem,
  locationOrContact,
  messageItem,
  originOf,
  readFix,
  requireIdentifier,
} from '../decoding/items.ts'
import { decodeEach, limitParts, type Note, type Provider, Unreadable } from '../decoding/push.ts'
import {
  fromSeconds,
  fromText,
  isJson,
  listOf,
  objectOf,
  parseJson,
  requireInstant,
} from '../decoding/values.ts'
import { parseXml, xmlText } from '../decoding/xml.ts'

/* SPOT: the XML push, and the messages of its feed, which have other names for the same. */

const ALERTS: Readonly<Record<string, string>> = { HELP: SOS, NEWMOVEMENT: MOVEMENT }

const readTime = (message: JsonObject): number | undefined =>
  fromSeconds(xmlText(message.timeInGMTSecond ?? message.unixTime)) ??
  fromText(xmlText(message.timestamp ?? message.dateTime))

const decodeMessage = (message: JsonObject, note: Note): SourceItem[] => {
  const identifier = requireIdentifier(xmlText(message.esn ?? message.messengerId), 'esn')
  const dateTime = requireInstant(readTime(message), 'timeInGMTSecond')
  const type = xmlText(message.messageType)
  const origin = {
    ...originOf(identifier, xmlText(message.id), `${identifier}:${dateTime}`),
    ...(type === 'OK' && { okAt: dateTime }),
  }
  const text = xmlText(message.messageDetail ?? message.messageContent)
  const location = readFix(
    {
      dateTime,
      latitude: xmlText(message.latitude),
      longitude: xmlText(message.longitude),
      altitude: xmlText(message.altitude),
      source: 'gnss',
    },
    note,
  )
  const occasion = { dateTime, location }
  const alert = Object.hasOwn(ALERTS, type) ? ALERTS[type] : undefined
  const isLow = xmlText(message.batteryState) === 'LOW'
  return [
    locationOrContact(origin, location),
    ...(alert ? [alertItem(origin, alert, occasion, text)] : []),
    ...(type === 'HELP-CANCEL' ? [cancelItem(origin, SOS, occasion)] : []),
    ...(isLow ? [alertItem(origin, LOW_BATTERY, occasion)] : []),
    ...(text !== '' && !alert ? [messageItem(origin, dateTime, text)] : []),
  ]
}

const feedMessages = (body: JsonObject): unknown => {
  const feed = objectOf(objectOf(body.response).feedMessageResponse)
  return isObject(body.response) ? objectOf(feed.messages).message : body
}

export const spot: Provider = {
  decode: async (push) => {
    const isFeed = push.body.byteLength > 0 && isJson(push)
    const sent = isFeed
      ? feedMessages(objectOf(parseJson(push)))
      : objectOf((await parseXml(push)).messageList).message
    const messages = limitParts(listOf(sent)).map(objectOf)
    if (messages.length === 0) throw new Unreadable('The body has no message.')
    return decodeEach(push, messages, 'Message', decodeMessage)
  },
}
