import type * as z from 'zod'
import { escapePointer } from '../domain/json.ts'
import type { FieldError } from './problem.ts'

/** As many as anyone reads: a body may have a hundred thousand. */
export const MAX_ERRORS = 20

const pointerOf = (prefix: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>((pointer, part) => `${pointer}/${escapePointer(String(part))}`, prefix)

const sentence = (text: string): string => text.charAt(0).toLowerCase() + text.slice(1)

/** Zod's findings as the contract words them: one pointer each, unknown members one by one, at most twenty. */
export const fieldErrors = (error: z.ZodError, prefix: string): FieldError[] =>
  error.issues.slice(0, MAX_ERRORS).flatMap((issue) => {
    if (issue.code === 'unrecognized_keys') {
      return issue.keys.slice(0, MAX_ERRORS).map((key) => ({
        pointer: pointerOf(prefix, [...issue.path, key]),
        detail: 'is not known',
      }))
    }
    return [{ pointer: pointerOf(prefix, issue.path), detail: sentence(issue.message) }]
  })

/** A schema without what is wrapped around it: a default, an optional, a null. */
export const unwrapped = (schema: z.ZodType): z.ZodType => {
  const { innerType } = schema._zod.def as { innerType?: z.ZodType }
  return innerType ? unwrapped(innerType) : schema
}

export const typeOf = (schema: z.ZodType | undefined): string | undefined =>
  schema && unwrapped(schema)._zod.def.type

const DEPTH = 8
const SIZE = 8192

/** How deep a value is nested; `most + 1` stands for anything beyond. */
export const depthOf = (value: unknown, most: number): number => {
  if (typeof value !== 'object' || value === null) return 0
  if (most === 0) return 1
  let deepest = 0
  for (const member of Object.values(value)) deepest = Math.max(deepest, depthOf(member, most - 1))
  return deepest + 1
}

const isShallow = (value: unknown): boolean => depthOf(value, DEPTH) <= DEPTH
const isSmall = (value: unknown): boolean =>
  new TextEncoder().encode(JSON.stringify(value)).byteLength <= SIZE
/** `1e400` is JSON, but no number that could come back. */
const isKeepable = (value: unknown): boolean =>
  typeof value === 'number'
    ? Number.isFinite(value)
    : typeof value !== 'object' || value === null || Object.values(value).every(isKeepable)
export const isFreeForm = (value: unknown): boolean =>
  isShallow(value) && isKeepable(value) && isSmall(value)

/** A member whose inside is the client's own: at most 8 levels deep and 8 KiB large. */
export const freeForm = <T extends z.ZodType>(schema: T): T =>
  schema
    .refine(isShallow, { error: 'must not be nested deeper than 8 levels', abort: true })
    .refine(isKeepable, { error: 'must hold only numbers that can be kept', abort: true })
    .refine(isSmall, 'must not be larger than 8 KiB') as T
