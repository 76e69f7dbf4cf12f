import {
  type AlertItem,
  type CancelItem,
  type ContactItem,
  type LocationItem,
  MAX_IDENTIFIER_LENGTH,
  type MessageItem,
  type SourceItem,
} from '../../domain/account/source.ts'
import type { JsonObject } from '../../domain/text/json.ts'
import { type Location, NUMBER_FIELDS, type NumberName } from '../../domain/track/location.ts'
import { isFreeForm } from '../../http/contract/validation.ts'
import { hexOf } from './bytes.ts'
import { type Note, Unreadable } from './push.ts'
import { numberOf, textOf } from './values.ts'

/* Makes the items of a payload, each checked as strictly as a report by the API. */

/** Which device an item is of, and what makes it the same item when it comes again. */
export interface Origin {
  identifier: string
  key: string
  /** When the device said that all is well. */
  okAt?: number
  /** Whether the key is an id that the provider gave the message. */
  isMessageId?: boolean
}

/** By the provider's id of the message where there is one. */
export const originOf = (identifier: string, messageId: string, otherwise: string): Origin =>
  messageId === ''
    ? { identifier, key: otherwise }
    : { identifier, key: messageId, isMessageId: true }

const hasControl = (text: string): boolean =>
  [...text].some((character) => character < ' ' || character === '\u007f')

export const requireIdentifier = (value: unknown, name: string): string => {
  const identifier = textOf(value)
  if (identifier === '') throw new Unreadable(`\`${name}\` is missing.`)
  if (identifier.length > MAX_IDENTIFIER_LENGTH || hasControl(identifier))
    throw new Unreadable(
      `\`${name}\` must be a line of at most ${MAX_IDENTIFIER_LENGTH} characters.`,
    )
  return identifier
}

/** Items of a device that earlier releases have named otherwise. */
export const withFormer = (items: SourceItem[], formerIdentifier: string): SourceItem[] =>
  formerIdentifier === '' || formerIdentifier.length > MAX_IDENTIFIER_LENGTH
    ? items
    : items.map((item) =>
        item.identifier === formerIdentifier ? item : { ...item, formerIdentifier },
      )

/** A position as a payload gives it, numbers as text or not at all. */
export type PayloadFix = { dateTime: number; source: 'gnss' | 'network' } & {
  [N in NumberName]?: unknown
} & { attributes?: JsonObject; inputs?: unknown[] }

const isInRange = (name: NumberName, value: number): boolean =>
  value >= NUMBER_FIELDS[name].min && value <= NUMBER_FIELDS[name].max

/** Degrees from north, 0 to 360. Some networks count them downwards to −360. */
const toCourse = (value: unknown): number | undefined => {
  const course = numberOf(value)
  if (course === undefined || Math.abs(course) > 360) return undefined
  return course < 0 ? course + 360 : course
}

const OPTIONAL_NUMBERS = (Object.keys(NUMBER_FIELDS) as NumberName[]).filter(
  (name) => name !== 'latitude' && name !== 'longitude',
)

/** Members out of range mean "unknown" to most trackers, so they are left out. */
const optionalNumbers = (fix: PayloadFix): Partial<Location> =>
  Object.fromEntries(
    OPTIONAL_NUMBERS.flatMap((name) => {
      const value = name === 'course' ? toCourse(fix.course) : numberOf(fix[name])
      return value !== undefined && isInRange(name, value) ? [[name, value]] : []
    }),
  )

const cleanValue = (value: unknown, depth = 0): unknown => {
  if (typeof value === 'string') return textOf(value)
  if (typeof value !== 'object' || value === null || depth > 8) return value
  if (Array.isArray(value)) return value.map((member) => cleanValue(member, depth + 1))
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [textOf(name), cleanValue(member, depth + 1)]),
  )
}

/** More than fit into the largest attributes: to clean them would only take time and memory. */
const MAX_MEMBERS = 4096

/** How many more members there may be after those of a value. */
const membersLeft = (value: unknown, left: number): number => {
  if (typeof value !== 'object' || value === null) return left - 1
  let rest = left - 1
  for (const name in value) {
    if (rest < 0) break
    rest = membersLeft(value[name as never], rest)
  }
  return rest
}

/** Left out when they are larger or deeper than a location may have. */
const toAttributes = (attributes: JsonObject | undefined): { attributes?: JsonObject } => {
  if (membersLeft(attributes, MAX_MEMBERS) < 0) return {}
  const kept = Object.entries(attributes ?? {}).filter(
    ([name, value]) => value !== undefined && value !== null && name !== '__proto__',
  )
  if (kept.length === 0) return {}
  const cleaned = cleanValue(Object.fromEntries(kept)) as JsonObject
  return isFreeForm(cleaned) ? { attributes: cleaned } : {}
}

const toCoordinate = (name: 'latitude' | 'longitude', value: unknown): number => {
  const number = numberOf(value)
  if (number === undefined) throw new Unreadable(`\`${name}\` is missing or is no number.`)
  if (!isInRange(name, number)) throw new Unreadable(`\`${name}\` is out of range.`)
  return number
}

export const toLocation = (fix: PayloadFix): Location => ({
  dateTime: fix.dateTime,
  latitude: toCoordinate('latitude', fix.latitude),
  longitude: toCoordinate('longitude', fix.longitude),
  ...optionalNumbers(fix),
  ...toAttributes(fix.attributes),
  ...(fix.inputs && { inputs: fix.inputs }),
  source: fix.source,
})

/**
 * Null, and noted, when the coordinates cannot be read. What comes with them counts all the same: an
 * SOS must not be lost with its position.
 */
export const readLocation = (fix: PayloadFix, note: Note): Location | null => {
  try {
    return toLocation(fix)
  } catch (error) {
    if (!(error instanceof Unreadable)) throw error
    note(error)
    return null
  }
}

/** Null, and not noted, where a payload without a position has no latitude. */
export const readFix = (fix: PayloadFix, note: Note): Location | null =>
  numberOf(fix.latitude) === undefined ? null : readLocation(fix, note)

/** The location, or a sign of life without one. */
export const locationOrContact = (
  origin: Origin,
  location: Location | null,
): LocationItem | ContactItem => (location ? locationItem(origin, location) : contactItem(origin))

export const locationItem = (
  { identifier, key, okAt }: Origin,
  location: Location,
): LocationItem => ({
  kind: 'location',
  identifier,
  key,
  location,
  ...(okAt !== undefined && { okAt }),
})

export const contactItem = ({ identifier, key, okAt }: Origin): ContactItem => ({
  kind: 'none',
  identifier,
  key,
  ...(okAt !== undefined && { okAt }),
})

/** When and where; without a location the alert has no coordinates of its own. */
export interface Occasion {
  dateTime: number
  location: Location | null
}

const placeOf = ({ dateTime, location }: Occasion) => ({
  dateTime,
  latitude: location?.latitude ?? null,
  longitude: location?.longitude ?? null,
})

const MAX_TEXT_LENGTH = 1000
const MAX_NAME_LENGTH = 64

export const alertItem = (
  { identifier, key, isMessageId }: Origin,
  alertName: string,
  occasion: Occasion,
  text = '',
): AlertItem => ({
  kind: 'alert',
  identifier,
  key: `${key}:${alertName}`,
  alertName: alertName.slice(0, MAX_NAME_LENGTH),
  text: text.slice(0, MAX_TEXT_LENGTH).toWellFormed(),
  ...placeOf(occasion),
  ...(isMessageId && { isMessageId }),
})

export const cancelItem = (
  { identifier, key }: Origin,
  alertName: string,
  occasion: Occasion,
): CancelItem => ({
  kind: 'cancel',
  identifier,
  key: `${key}:cancel`,
  alertName,
  ...placeOf(occasion),
})

const MAX_MESSAGE_LENGTH = 10_000

export const messageItem = (
  { identifier, key }: Origin,
  dateTime: number,
  text: string,
  format: 'Text' | 'Hex' = 'Text',
): MessageItem => ({
  kind: 'message',
  identifier,
  key: `${key}:message`,
  dateTime,
  text: text.slice(0, MAX_MESSAGE_LENGTH).toWellFormed(),
  format,
})

/** Printable, with line ends. */
const isReadable = (text: string): boolean =>
  [...text].every((character) =>
    character >= ' ' ? character !== '\u007f' : '\t\r\n'.includes(character),
  )

/** Bytes as text where they are text, else as hex. */
export const bytesItem = (origin: Origin, dateTime: number, bytes: Uint8Array): MessageItem => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    if (isReadable(text)) return messageItem(origin, dateTime, text)
  } catch {
    // Not text.
  }
  return messageItem(origin, dateTime, hexOf(bytes), 'Hex')
}
