import { SaxesParser } from 'saxes'
import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { type Push, Unreadable } from './push.ts'
import { bodyText, textOf } from './values.ts'

/* XML of providers, without entities of its own, so that nothing expands. */

/** One that only names a DTD, which nobody reads. It may have no entities between brackets. */
const PLAIN_DOCTYPE =
  /<!DOCTYPE\s+[\w:.-]+\s+(?:SYSTEM|PUBLIC\s+(?:"[^"]*"|'[^']*'))\s+(?:"[^"]*"|'[^']*')\s*>/

const parsedPushes = new WeakMap<Push, JsonObject>()

/** What the decoder of a push has read, which the reply to it needs. */
export const parsedXml = (push: Push): JsonObject | undefined => parsedPushes.get(push)

export const parseXml = async (push: Push): Promise<JsonObject> => {
  const text = bodyText(push)
  if (/<!(DOCTYPE|ENTITY)/i.test(text.replace(PLAIN_DOCTYPE, '')))
    throw new Unreadable('XML with entities, or a DOCTYPE that defines anything, is refused.')
  try {
    const parsed = await push.slices.run(readDocument(text))
    parsedPushes.set(push, parsed)
    return parsed
  } catch {
    throw new Unreadable('The body is not well-formed XML.')
  }
}

interface Element {
  members: JsonObject
  text: string
}

const newElement = (): Element => ({ members: Object.create(null), text: '' })

/** The last part of a name, without its namespace. */
const localName = (name: string): string => name.slice(name.indexOf(':') + 1)

const addMember = ({ members }: Element, name: string, value: unknown): void => {
  const before = members[name]
  // Grows in place: a name may be repeated thousands of times.
  if (Array.isArray(before)) before.push(value)
  else members[name] = before === undefined ? value : [before, value]
}

/** Text alone is the value of an element that has neither attributes nor elements. */
const elementValue = ({ members, text }: Element): unknown => {
  const trimmed = text.trim()
  for (const _name in members) return trimmed === '' ? members : { ...members, '#text': trimmed }
  return trimmed
}

/** What XML does not allow although trackers send it: it must not lose the rest. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are the ones that are meant.
const CONTROLS = /[\u0000-\u0008\u000b\u000c\u000e-\u001f\ufffe\uffff]/g

const CHUNK_CHARACTERS = 8192
/** So many are parsed in about a microsecond. */
const CHARACTERS_PER_UNIT = 5

/**
 * Attributes are named `@name`, text beside them `#text`. All values are text, in which references
 * are left as they are written. Throws for what is not well-formed.
 */
function* readDocument(text: string): Generator<number, JsonObject> {
  const document = newElement()
  const open = [document]
  const parser = new SaxesParser()
  const addText = (part: string) => {
    const element = open.at(-1)
    if (element) element.text += part
  }
  parser.on('opentag', ({ attributes }) => {
    const element = newElement()
    for (const [name, value] of Object.entries(attributes))
      addMember(element, `@${localName(name)}`, value)
    open.push(element)
  })
  parser.on('text', addText)
  parser.on('cdata', addText)
  parser.on('closetag', ({ name }) => {
    const element = open.pop()
    const parent = open.at(-1)
    if (element && parent) addMember(parent, localName(name), elementValue(element))
  })
  const clean = text.replaceAll(CONTROLS, '\ufffd').replaceAll('&', '&amp;')
  for (let at = 0; at < clean.length; at += CHUNK_CHARACTERS) {
    parser.write(clean.slice(at, at + CHUNK_CHARACTERS))
    yield CHUNK_CHARACTERS / CHARACTERS_PER_UNIT
  }
  parser.close()
  return document.members
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
