import { XMLParser } from 'fast-xml-parser'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { type Push, Unreadable } from './push.ts'
import { bodyText, textOf } from './values.ts'

/* XML of providers: without a DOCTYPE and without entities of its own, so that nothing expands. */

/** Attributes are named `@name`, text beside them `#text`. All values are text. */
const parser = new XMLParser({
  ignoreAttributes: false,
  attributeNamePrefix: '@',
  parseTagValue: false,
  parseAttributeValue: false,
  processEntities: false,
  removeNSPrefix: true,
  ignoreDeclaration: true,
  ignorePiTags: true,
})

const parsedPushes = new WeakMap<Push, JsonObject>()

/** Parses once: the reply to a push needs what its decoder has read. */
export const parseXml = (push: Push): JsonObject => {
  const parsed = parsedPushes.get(push) ?? parseBody(push)
  parsedPushes.set(push, parsed)
  return parsed
}

const parseBody = (push: Push): JsonObject => {
  const text = bodyText(push)
  if (/<!(DOCTYPE|ENTITY)/i.test(text))
    throw new Unreadable('XML with a DOCTYPE or an entity is refused.')
  let parsed: unknown
  try {
    parsed = parser.parse(text, true)
  } catch {
    throw new Unreadable('The body is not well-formed XML.')
  }
  if (!isObject(parsed) || Object.keys(parsed).length === 0)
    throw new Unreadable('The body is not well-formed XML.')
  return parsed
}

const PREDEFINED: Readonly<Record<string, string>> = {
  lt: '<',
  gt: '>',
  amp: '&',
  quot: '"',
  apos: "'",
}

/** A character by its number; as it was written where there is none that can be stored. */
const characterOf = (reference: string, digits: string, radix: 10 | 16): string => {
  const code = Number.parseInt(digits, radix)
  const isSurrogate = code >= 0xd800 && code <= 0xdfff
  return code === 0 || code > 0x10ffff || isSurrogate ? reference : String.fromCodePoint(code)
}

/** The five entities that every XML has, and references to characters. None expands further. */
const REFERENCE = /&(?:(lt|gt|amp|quot|apos)|#(\d{1,7})|#x([\da-fA-F]{1,6}));/g

/** The text of an element or attribute. */
export const xmlText = (value: unknown): string =>
  textOf(isObject(value) ? value['#text'] : value).replaceAll(
    REFERENCE,
    (reference: string, name?: string, decimal?: string, hex?: string) => {
      if (name) return PREDEFINED[name] ?? reference
      return decimal ? characterOf(reference, decimal, 10) : characterOf(reference, hex ?? '', 16)
    },
  )

export const escapeXml = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
