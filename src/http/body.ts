import type { Context } from 'hono'
import { escapePointer, isObject, type JsonObject } from '../domain/json.ts'
import type { Operation } from './contract.ts'
import {
  acquireLargeBody,
  BODY_TIMEOUT_MS,
  releaseLargeBody,
  releaseWhile,
} from './loadShedding.ts'
import { invalid, Problem } from './problem.ts'
import { fieldErrors, MAX_ERRORS } from './validation.ts'

export const MAX_BODY_BYTES = 1_048_576
/** For whoever has not shown who they are. */
export const MAX_OPEN_BODY_BYTES = 65_536
const PATCH_TYPES = ['application/json-patch+json', 'application/merge-patch+json']

/** The text as it came, which is what an Idempotency-Key is held against, and what it says. */
export interface JsonBody {
  text: string
  value: unknown
}

const tooLarge = (most: number) =>
  new Problem(
    'body-too-large',
    most === MAX_BODY_BYTES ? {} : { detail: `The body is larger than ${most / 1024} KiB.` },
  )
const malformed = (detail: string, pointer = '') =>
  new Problem('malformed-body', { errors: [{ pointer, detail }] })

const checkType = (c: Context) => {
  const encoding = c.req.header('Content-Encoding')
  if (encoding !== undefined && encoding.toLowerCase() !== 'identity')
    throw new Problem('unsupported-media-type')
  const [type = '', ...parameters] = (c.req.header('Content-Type') ?? '')
    .toLowerCase()
    .split(';')
    .map((part) => part.trim())
  const known =
    type === 'application/json' || (c.req.method === 'PATCH' && PATCH_TYPES.includes(type))
  if (!known || !parameters.every((parameter) => /^charset="?utf-8"?$/.test(parameter)))
    throw new Problem('unsupported-media-type')
}

/** A body of at most so many bytes, counted as it streams. */
export const readBytes = async (
  request: Request,
  most: number,
  owner = '',
): Promise<Uint8Array> => {
  if (request.body === null) return new Uint8Array()
  const isSmall = most <= MAX_OPEN_BODY_BYTES || declaredLength(request) <= MAX_OPEN_BODY_BYTES
  const take = () => collectBytes(request, request.body as ReadableStream<Uint8Array>, most)
  if (isSmall) return releaseWhile(request, take)
  if (!acquireLargeBody(request, owner))
    throw new Problem('unavailable', { headers: { 'Retry-After': '1' } })
  try {
    return await releaseWhile(request, () => withTimeout(take()))
  } finally {
    releaseLargeBody(request)
  }
}

/** What has not come by then is read no further: the answer ends the request, and with it its body. A timer for each small one would be felt. */
const withTimeout = async <T>(work: Promise<T>): Promise<T> => {
  let timer: ReturnType<typeof setTimeout> | undefined
  const late = new Promise<never>((_, reject) => {
    timer = setTimeout(
      () => reject(malformed('did not come to its end within a minute')),
      BODY_TIMEOUT_MS,
    )
  })
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const declaredLength = ({ headers }: Request): number =>
  Number(headers.get('Content-Length') ?? Number.NaN)

const collectBytes = async (
  request: Request,
  body: ReadableStream<Uint8Array>,
  most: number,
): Promise<Uint8Array> => {
  const declared = declaredLength(request)
  if (declared > most) throw tooLarge(most)
  if (declared >= 0) {
    const whole = new Uint8Array(await request.arrayBuffer())
    if (whole.byteLength > most) throw tooLarge(most)
    return whole
  }
  const chunks: Uint8Array[] = []
  let size = 0
  for await (const chunk of body) {
    size += chunk.byteLength
    if (size > most) throw tooLarge(most)
    chunks.push(chunk)
  }
  const bytes = new Uint8Array(size)
  let at = 0
  for (const chunk of chunks) {
    bytes.set(chunk, at)
    at += chunk.byteLength
  }
  return bytes
}

const isWellFormed = (text: string): boolean => text.isWellFormed() && !text.includes('\0')
const isStorableName = (name: string): boolean => name !== '__proto__'

/** Where the first bad name or string stands. Stops at a depth that no valid body reaches. */
const pointerToBad = (
  value: unknown,
  isName: (name: string) => boolean,
  isText: (text: string) => boolean,
  pointer = '',
  depth = 0,
): string | null => {
  if (typeof value === 'string') return isText(value) ? null : pointer
  if (typeof value !== 'object' || value === null || depth > 32) return null
  for (const [name, member] of Object.entries(value)) {
    const at = `${pointer}/${escapePointer(name)}`
    if (!isName(name)) return at
    const found = pointerToBad(member, isName, isText, at, depth + 1)
    if (found !== null) return found
  }
  return null
}

/** Validators drop the name in silence; what cannot be kept is refused instead. */
const checkNames = (text: string, value: unknown) => {
  if (!text.includes('__proto__') && !text.includes('\\u')) return
  const pointer = pointerToBad(value, isStorableName, () => true)
  if (pointer !== null) throw invalid({ pointer, detail: 'is not a name that can be kept' })
}

const malformedString = (value: unknown) =>
  malformed(
    'must not hold a NUL or half a surrogate pair',
    pointerToBad(value, isWellFormed, isWellFormed) ?? '',
  )

/** In valid UTF-8 only an escape can make a NUL or half a surrogate pair, so text without `\u` needs no look. */
const checkEscapes = (text: string, value: unknown) => {
  if (!text.includes('\\u')) return
  let high = -1
  for (const match of text.matchAll(/\\(?:u([0-9a-fA-F]{4})|.)/gs)) {
    const unit = match[1] === undefined ? -1 : Number.parseInt(match[1], 16)
    const isLow = unit >= 0xdc00 && unit <= 0xdfff
    const follows = high !== -1 && match.index === high + 6
    if (unit === 0 || isLow !== follows || (high !== -1 && !follows)) throw malformedString(value)
    high = unit >= 0xd800 && unit <= 0xdbff ? match.index : -1
  }
  if (high !== -1) throw malformedString(value)
}

/** The request's JSON, or null where there is no body at all. */
export const readJson = async (c: Context, most = MAX_BODY_BYTES): Promise<JsonBody | null> => {
  const request = c.req.raw
  if (request.body === null || request.headers.get('Content-Length') === '0') return null
  checkType(c)
  const bytes = await readBytes(request, most, c.get('principal')?.accountId)
  if (bytes.byteLength === 0) return null
  let text: string
  let value: unknown
  try {
    text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false }).decode(bytes)
    value = JSON.parse(text)
  } catch (error) {
    throw malformed(error instanceof SyntaxError ? 'is not well-formed JSON' : 'is not valid UTF-8')
  }
  checkEscapes(text, value)
  checkNames(text, value)
  return { text, value }
}

/** A body as the contract reads it: unwrapped, without what the server writes, every value checked. */
export const parseBody = (contract: Operation, value: unknown): unknown => {
  const { wrapper } = contract
  if (!wrapper || !isObject(value) || !Object.hasOwn(value, wrapper))
    return parseBare(contract, value, '')
  rejectUnknownBeside(value, wrapper)
  return parseBare(contract, value[wrapper], `/${wrapper}`)
}

/** Beside a wrapper stands `success` at the most. */
export const rejectUnknownBeside = (value: JsonObject, wrapper: string): void => {
  const stray = Object.keys(value).filter((name) => name !== wrapper && name !== 'success')
  if (stray.length > 0)
    throw invalid(
      ...stray.slice(0, MAX_ERRORS).map((name) => ({
        pointer: `/${escapePointer(name)}`,
        detail: `is not known beside ${wrapper}`,
      })),
    )
}

/** `prefix`: where in the body the value stands. */
export const parseBare = (contract: Operation, value: unknown, prefix: string): unknown => {
  const inner = isObject(value) ? without(value, [...(contract.ignored ?? []), 'success']) : value
  const parsed = contract.read ? contract.read(inner) : contract.body?.safeParse(inner)
  if (!parsed?.success) throw invalid(...(parsed ? fieldErrors(parsed.error, prefix) : []))
  return parsed.data
}

const without = (value: JsonObject, names: readonly string[]): JsonObject =>
  names.some((name) => Object.hasOwn(value, name))
    ? Object.fromEntries(Object.entries(value).filter(([name]) => !names.includes(name)))
    : value
