import { XMLParser } from 'fast-xml-parser'
import { isObject, type JsonObject } from '../domain/json.ts'
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

export const parseXml = (push: Push): JsonObject => {
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

/** The text of an element or attribute, with the five entities that every XML has. */
export const xmlText = (value: unknown): string =>
  textOf(isObject(value) ? value['#text'] : value).replaceAll(
    /&(lt|gt|amp|quot|apos);/g,
    (_, name: string) => PREDEFINED[name] ?? '',
  )

export const escapeXml = (text: string): string =>
  text.replaceAll(/[<>&"']/g, (character) => `&#${character.charCodeAt(0)};`)
