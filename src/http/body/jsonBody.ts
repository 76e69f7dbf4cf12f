import { extraCostOfBody, workOfBody } from '../../domain/account/requestCost.ts'
import { escapePointer } from '../../domain/text/json.ts'
import { assignSlotAgain, awaitCostlyTurn } from '../admission/loadShedding.ts'
import { intakeOf, isStartTooLate } from '../admission/pacing.ts'
import { countExtraCost } from '../admission/rateLimit.ts'
import type { Context } from '../context.ts'
import { invalid, malformedBody, overloaded, Problem } from '../contract/problem.ts'
import { declaredLength, MAX_BODY_BYTES, readBytes } from './body.ts'

/* Turns the bytes of a request body into JSON, and refuses strings that cannot be stored. */

const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json']

interface JsonBody {
  /** The text as it was sent: an Idempotency-Key is bound to it. */
  text: string
  value: unknown
}

const checkContentType = (c: Context) => {
  const encoding = c.req.header('Content-Encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported-media-type')
  const [type = '', ...parameters] = (c.req.header('Content-Type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const isSupported =
    type === 'application/json' || (c.req.method === 'PATCH' && PATCH_TYPES.includes(type))
  if (!isSupported || !parameters.every((parameter) => /^charset="?utf-8"?$/.test(parameter)))
    throw new Problem('unsupported-media-type')
}

/** Less is parsed in about a millisecond: a turn of the event loop would cost more than it gives. */
const MIN_SLOW_BYTES = 262_144

/** Deeper than any valid body, and shallow enough not to exhaust the stack. */
const MAX_DEPTH = 32

interface StringRules {
  isName: (name: string) => boolean
  isText: (text: string) => boolean
}

/** A pointer to the first member name or string that breaks the rules. */
const findInvalidString = (
  value: unknown,
  rules: StringRules,
  pointer = '',
  depth = 0,
): string | null => {
  if (typeof value === 'string') return rules.isText(value) ? null : pointer
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return null
  for (const [name, member] of Object.entries(value)) {
    const memberPointer = `${pointer}/${escapePointer(name)}`
    if (!rules.isName(name)) return memberPointer
    const found = findInvalidString(member, rules, memberPointer, depth + 1)
    if (found !== null) return found
  }
  return null
}

const NO_PROTO: StringRules = { isName: (name) => name !== '__proto__', isText: () => true }

/** Validators drop `__proto__` without an error, so it is refused before they run. */
const checkNames = (text: string, value: unknown) => {
  if (!text.includes('__proto__') && !text.includes('\\u')) return
  const pointer = findInvalidString(value, NO_PROTO)
  if (pointer !== null) throw invalid({ pointer, detail: 'is a reserved name: choose another one' })
}

const isWellFormed = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const WELL_FORMED: StringRules = { isName: isWellFormed, isText: isWellFormed }

const malformedString = (value: unknown) =>
  malformedBody(
    'must not contain a NUL character or an unpaired surrogate',
    findInvalidString(value, WELL_FORMED) ?? '',
  )

/** Only a `\u` escape can make a NUL or an unpaired surrogate in valid UTF-8. */
const checkEscapes = (text: string, value: unknown) => {
  if (!text.includes('\\u')) return
  let highAt = -1
  for (const match of text.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)) {
    const unit = match[1] === undefined ? -1 : Number.parseInt(match[1], 16)
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    const followsHigh = highAt !== -1 && match.index === highAt + 6
    if (unit === 0 || isLow !== followsHigh || (highAt !== -1 && !followsHigh))
      throw malformedString(value)
    highAt = unit >= 0xd800 && unit <= 0xdbff ? match.index : -1
  }
  if (highAt !== -1) throw malformedString(value)
}

const parseJson = (bytes: Uint8Array): JsonBody => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    return { text, value: JSON.parse(text) }
  } catch (error) {
    throw malformedBody(
      error instanceof SyntaxError ? 'must be well-formed JSON' : 'must be valid UTF-8',
    )
  }
}

/** The request's JSON; null without a body. */
export const readJson = async (c: Context, maxBytes = MAX_BODY_BYTES): Promise<JsonBody | null> => {
  const request = c.req.raw
  if (request.body === null || request.headers.get('Content-Length') === '0') return null
  checkContentType(c)
  const accountId = c.get('principal')?.accountId
  const declared = declaredLength(request)
  const isDeclaredSlow = declared > MIN_SLOW_BYTES && declared <= maxBytes
  if (accountId && isDeclaredSlow && isStartTooLate(intakeOf(accountId), Date.now()))
    throw overloaded()
  const bytes = await readBytes(request, maxBytes, accountId)
  // Many bodies may arrive at once: the requests go on as their account's share allows.
  if (accountId) await assignSlotAgain(request, accountId)
  if (bytes.byteLength === 0) return null
  countExtraCost(c, extraCostOfBody(bytes.byteLength))
  const isSlow = bytes.byteLength > MIN_SLOW_BYTES
  if (isSlow && accountId)
    await awaitCostlyTurn(request, intakeOf(accountId), workOfBody(bytes.byteLength))
  const body = parseJson(bytes)
  // Parsing a large body takes milliseconds: other requests get their turn before it is validated.
  if (isSlow) await scheduler.wait(1)
  checkEscapes(body.text, body.value)
  checkNames(body.text, body.value)
  return body
}
