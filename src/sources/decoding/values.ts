import { isObject, type JsonObject } from '../../domain/text/json.ts'
import { type Push, Unreadable } from './push.ts'

/* Reads single values of a payload. Providers send numbers as text and leave members out. */

const decodeUtf8 = (bytes: Uint8Array): string => {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
  } catch {
    throw new Unreadable('The body is not valid UTF-8.')
  }
}

/** D1 and JSON clients take neither NUL characters nor unpaired surrogates. */
const toStorable = (text: string): string => text.replaceAll('\0', '').toWellFormed()

export const textOf = (value: unknown): string => {
  if (typeof value === 'string') return toStorable(value).trim()
  return typeof value === 'number' || typeof value === 'boolean' ? String(value) : ''
}

/** The first text that is not empty. */
export const firstTextOf = (values: readonly unknown[]): string => {
  for (const value of values) {
    const text = textOf(value)
    if (text !== '') return text
  }
  return ''
}

const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?$/

/** Undefined for what is neither a finite number nor the text of one. */
export const numberOf = (value: unknown): number | undefined => {
  const number =
    typeof value === 'number'
      ? value
      : typeof value === 'string' && NUMBER.test(value.trim())
        ? Number(value)
        : Number.NaN
  // Adding 0 turns −0 into 0.
  return Number.isFinite(number) ? number + 0 : undefined
}

/** Undefined for a negative number, by which apps of phones mean that they do not know. */
export const unlessNegative = (value: unknown): number | undefined => {
  const number = numberOf(value)
  return number !== undefined && number >= 0 ? number : undefined
}

/** A value that a provider sends as text, as what it stands for. */
export const attributeOf = (value: unknown): unknown => {
  if (Array.isArray(value)) return value.map(attributeOf)
  if (value === 'true' || value === 'false') return value === 'true'
  return typeof value === 'string' ? (numberOf(value) ?? value) : value
}

/** Takes off the noise of a multiplication: 18.67 × 3.6 is 67.212. */
export const rounded = (value: number, digits = 6): number => {
  const scaled = Math.round(value * 10 ** digits) / 10 ** digits
  return Number.isFinite(scaled) ? scaled + 0 : value
}

/** Undefined stays undefined. */
export const scaledBy = (value: unknown, factor: number): number | undefined => {
  const number = numberOf(value)
  return number === undefined ? undefined : rounded(number * factor)
}

export const KNOTS = 1.852
export const METRES_PER_SECOND = 3.6

export const objectOf = (value: unknown): JsonObject => (isObject(value) ? value : {})
export const listOf = (value: unknown): unknown[] =>
  Array.isArray(value) ? value : value === undefined || value === null ? [] : [value]

export const bodyText = ({ body }: Push): string => decodeUtf8(body)

export const parseJson = (push: Push): unknown => {
  try {
    return JSON.parse(bodyText(push))
  } catch (error) {
    if (error instanceof Unreadable) throw error
    throw new Unreadable('The body is not well-formed JSON.')
  }
}

export const isJson = ({ contentType, body }: Push): boolean =>
  contentType === 'application/json' || body[0] === 0x7b || body[0] === 0x5b

/** More than any provider sends. */
const MAX_FORM_FIELDS = 1000

const parseForm = (push: Push): URLSearchParams => {
  const text = bodyText(push)
  if (text.split('&', MAX_FORM_FIELDS + 1).length > MAX_FORM_FIELDS)
    throw new Unreadable(`The form has more than ${MAX_FORM_FIELDS.toLocaleString('en')} fields.`)
  return new URLSearchParams(text)
}

/** The members of a form, a query or a JSON object: whatever the provider was set up to send. */
export const parseFields = (push: Push): JsonObject => {
  if (push.body.byteLength > 0 && isJson(push)) {
    const value = parseJson(push)
    if (!isObject(value)) throw new Unreadable('The body is not a JSON object.')
    return value
  }
  const fields: JsonObject = Object.create(null)
  const form = push.body.byteLength > 0 ? parseForm(push) : []
  for (const [name, value] of [...push.query, ...form]) {
    const before = fields[name]
    // Grows in place: a name may be repeated thousands of times.
    if (Array.isArray(before)) before.push(value)
    else fields[name] = before === undefined ? value : [before, value]
  }
  return fields
}

const TWO_DIGIT_YEAR = /^(\d\d)-(\d\d-\d\d) (\d\d:\d\d:\d\d)$/
const SPACED = /^(\d{4}-\d\d-\d\d) (\d\d:\d\d:\d\d(?:\.\d+)?)$/
const ISO = /^\d{4}-\d\d-\d\dT\d\d:\d\d(:\d\d(\.\d+)?)?(Z|[+-]\d\d:?\d\d)?$/
const MAX_INSTANT = Date.parse('9999-12-31T23:59:59.999Z')

const asInstant = (at: number): number | undefined =>
  at >= 0 && at <= MAX_INSTANT ? Math.floor(at) : undefined

/** Seconds since 1970 with a fraction, to the millisecond. */
export const fromSeconds = (value: unknown): number | undefined => {
  const seconds = numberOf(value)
  return seconds === undefined ? undefined : asInstant(Math.floor(rounded(seconds * 1000, 3)))
}

/** Milliseconds since 1970. */
export const fromMilliseconds = (value: unknown): number | undefined => {
  const at = numberOf(value)
  return at === undefined ? undefined : asInstant(at)
}

/** ISO 8601, `yyyy-MM-dd HH:mm:ss` or `yy-MM-dd HH:mm:ss`; UTC where no offset is given. */
export const fromText = (value: unknown): number | undefined => {
  const text = textOf(value)
  const short = TWO_DIGIT_YEAR.exec(text)
  if (short) return asInstant(Date.parse(`20${short[1]}-${short[2]}T${short[3]}Z`))
  const spaced = SPACED.exec(text)
  if (spaced) return asInstant(Date.parse(`${spaced[1]}T${spaced[2]}Z`))
  const found = ISO.exec(text)
  if (!found) return undefined
  const zoned = found[3] ? text.replace(/([+-]\d\d)(\d\d)$/, '$1:$2') : `${text}Z`
  return asInstant(Date.parse(zoned))
}

export const requireInstant = (at: number | undefined, name: string): number => {
  if (at === undefined) throw new Unreadable(`\`${name}\` is missing or is no time.`)
  return at
}
