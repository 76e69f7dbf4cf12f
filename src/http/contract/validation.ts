import type * as z from 'zod'
import { escapePointer } from '../../domain/text/json.ts'
import { hasLink } from '../../domain/text/links.ts'
import { type FieldError, invalid } from './problem.ts'

/** A body may have a hundred thousand errors; nobody reads more than these. */
export const MAX_ERRORS = 20
export const UNKNOWN_NAME = 'is not a known name: check the spelling, or leave it out'

const pointerOf = (prefix: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>((pointer, part) => `${pointer}/${escapePointer(String(part))}`, prefix)

const lowerFirst = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

const isMissing = (input: unknown, path: readonly PropertyKey[]): boolean =>
  path.length > 0 &&
  path.reduce((value, name) => (value as Record<PropertyKey, unknown> | null)?.[name], input) ===
    undefined

/** A refinement has its own words for what is missing; other checks speak of the value's type. */
const detailOf = (issue: z.core.$ZodIssue, input: unknown): string =>
  issue.code !== 'custom' && isMissing(input, issue.path)
    ? 'is required'
    : lowerFirst(issue.message)

/** Zod's issues with `input` as errors with one pointer each, unknown members one by one. */
export const fieldErrors = (error: z.ZodError, input: unknown, prefix: string): FieldError[] =>
  error.issues.slice(0, MAX_ERRORS).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MAX_ERRORS).map((key) => ({
        pointer: pointerOf(prefix, [...issue.path, key]),
        detail: UNKNOWN_NAME,
      }))
    }
    return [{ pointer: pointerOf(prefix, issue.path), detail: detailOf(issue, input) }]
  })

/** 400 for a name with a link, since names go into mails. One that was stored before may stay. */
export const refuseLinkInName = (name: string, before?: string): void => {
  if (name !== before && hasLink(name))
    throw invalid({
      pointer: '/name',
      detail: 'must not contain a link, such as https://example.com or www.example.com',
    })
}

/** The schema inside defaults, optionals and nullables. */
export const unwrapped = (schema: z.ZodType): z.ZodType => {
  const { innerType } = schema._zod.def as { innerType?: z.ZodType }
  return innerType ? unwrapped(innerType) : schema
}

export const typeOf = (schema: z.ZodType | undefined): string | undefined =>
  schema && unwrapped(schema)._zod.def.type

const MAX_FREE_FORM_DEPTH = 8
const MAX_FREE_FORM_BYTES = 8192

/** How deep a value is nested, or `max + 1` when it is deeper than `max`. */
export const depthOf = (value: unknown, max: number): number => {
  if (typeof value !== 'object' || value === null) return 0
  if (max === 0) return 1
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, max - 1))
  return deepest + 1
}

const isShallow = (value: unknown): boolean =>
  depthOf(value, MAX_FREE_FORM_DEPTH) <= MAX_FREE_FORM_DEPTH

/** The most bytes that the JSON of a value can have: a code unit takes up to six. */
const maxJsonBytes = (value: unknown): number => {
  if (typeof value === 'string') return value.length * 6 + 2
  if (typeof value !== 'object' || value === null) return 32
  let bytes = 2
  if (Array.isArray(value)) for (const item of value) bytes += maxJsonBytes(item) + 1
  else for (const name in value) bytes += name.length * 6 + 4 + maxJsonBytes(value[name as never])
  return bytes
}

/** Writes the JSON only of what may be too large: a report may have a thousand such values. */
const isSmall = (value: unknown): boolean =>
  maxJsonBytes(value) <= MAX_FREE_FORM_BYTES ||
  new TextEncoder().encode(JSON.stringify(value)).byteLength <= MAX_FREE_FORM_BYTES
/** `1e400` is valid JSON, but becomes Infinity, which JSON cannot express. */
const hasFiniteNumbers = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value !== 'object' || value === null || Object.values(value).every(hasFiniteNumbers)
export const isFreeForm = (value: unknown): boolean =>
  isShallow(value) && hasFiniteNumbers(value) && isSmall(value)

/** A member with content of the client's own: at most 8 levels deep and 8 KiB large. */
export const freeForm = <T extends z.ZodType>(schema: T): T =>
  schema
    .refine(isShallow, { error: 'must be nested at most 8 levels deep', abort: true })
    .refine(hasFiniteNumbers, { error: 'must contain only finite numbers', abort: true })
    .refine(isSmall, 'must be at most 8 KiB large') as T
