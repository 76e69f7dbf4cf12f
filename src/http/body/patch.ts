import * as z from 'zod'
import {
  escapePointer,
  isObject,
  type JsonObject,
  mergePatch,
  sameJson,
} from '../../domain/text/json.ts'
import { applyJsonPatch, type PatchStep } from '../../domain/text/jsonPatch.ts'
import type { Operation } from '../contract/contract.ts'
import { type FieldError, invalid, Problem } from '../contract/problem.ts'
import {
  depthOf,
  fieldErrors,
  MAX_ERRORS,
  UNKNOWN_NAME,
  unwrapped,
} from '../contract/validation.ts'
import { parseBare, rejectSiblings } from './parseBody.ts'

export type Patch = { kind: 'json'; steps: PatchStep[] } | { kind: 'merge'; document: JsonObject }

/** Deeper than any resource, and shallow enough for recursion. */
const MAX_DEPTH = 32

const pointer = z
  .string()
  .refine(
    (text) => (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text),
    'must be a JSON Pointer, such as /name',
  )
  .refine(
    (text) => !text.split('/').includes('__proto__'),
    'must not contain the reserved name __proto__',
  )
  .refine(
    (text) => text.split('/').length - 1 <= MAX_DEPTH,
    `must have at most ${MAX_DEPTH} levels`,
  )
  .meta({ format: 'json-pointer' })
const value = z.unknown().refine((given) => given !== undefined, 'is required')
/** More than the 15,000 or so steps that add an id to a list and fit into 1 MiB. */
const MAX_STEPS = 20_000
export const jsonPatch = z
  .array(
    z.discriminatedUnion('op', [
      z
        .object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value })
        .meta({ title: 'PatchValue' }),
      z.object({ op: z.literal('remove'), path: pointer }).meta({ title: 'PatchRemoval' }),
      z
        .object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer })
        .meta({ title: 'PatchMove' }),
    ]),
  )
  .max(MAX_STEPS, `must have at most ${MAX_STEPS} steps`)

/** The content type tells the two kinds apart; under application/json the shape does. */
const readPatch = (contentType: string, body: unknown): Patch => {
  if (depthOf(body, MAX_DEPTH) > MAX_DEPTH)
    throw invalid({ pointer: '', detail: `must be nested at most ${MAX_DEPTH} levels deep` })
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json-patch+json' && isObject(body))
    return { kind: 'merge', document: body }
  if (type === 'application/merge-patch+json')
    throw invalid({ pointer: '', detail: 'must be an object, as a JSON Merge Patch is' })
  const parsed = jsonPatch.safeParse(body)
  if (!parsed.success) throw invalid(...fieldErrors(parsed.error, body, ''))
  return { kind: 'json', steps: parsed.data as PatchStep[] }
}

const invalidPatch = (...errors: FieldError[]) => new Problem('invalid-patch', { errors })

/** Removes the wrapper, if the patch has it. `prefix` points to the rest in the request body. */
const unwrapPatch = (
  patch: Patch,
  wrapper: string | undefined,
): { patch: Patch; prefix: string } => {
  if (!wrapper) return { patch, prefix: '' }
  if (patch.kind === 'merge') {
    const inner = patch.document[wrapper]
    if (!isObject(inner)) return { patch, prefix: '' }
    rejectSiblings(patch.document, wrapper, ['success'])
    return { patch: { kind: 'merge', document: inner }, prefix: `/${wrapper}` }
  }
  const strip = (path: string) =>
    path === `/${wrapper}` || path.startsWith(`/${wrapper}/`)
      ? path.slice(wrapper.length + 1)
      : path
  const steps = patch.steps.map(
    (step) =>
      ({
        ...step,
        path: strip(step.path),
        ...('from' in step && { from: strip(step.from) }),
      }) as PatchStep,
  )
  return { patch: { kind: 'json', steps }, prefix: '' }
}

/** The patch without a wrapper, and where in the body the resource is. */
export const parsePatch = (
  contentType: string,
  body: unknown,
  { wrapper }: Operation,
): { patch: Patch; prefix: string } => unwrapPatch(readPatch(contentType, body), wrapper)

/**
 * Members that a merge patch removes although the resource never has them: probably misspelt. In a
 * record, such as tags, any name that it could hold may be removed.
 */
const unknownMembers = (
  document: JsonObject,
  resource: JsonObject,
  body: z.ZodType,
  prefix: string,
): string[] =>
  Object.entries(document).flatMap(([name, value]) => {
    const pointer = `${prefix}/${escapePointer(name)}`
    const current = Object.hasOwn(resource, name) ? resource[name] : undefined
    if (value === null) return current === undefined ? [pointer] : []
    const member = (body as Partial<z.ZodObject>).shape?.[name] as z.ZodType | undefined
    if (!isObject(value) || !isObject(current) || !member) return []
    const { keyType } = unwrapped(member)._zod.def as { keyType?: z.ZodType }
    return keyType
      ? unknownKeys(value, keyType, pointer)
      : unknownMembers(value, current, unwrapped(member), pointer)
  })

const unknownKeys = (record: JsonObject, keyType: z.ZodType, prefix: string): string[] =>
  Object.keys(record)
    .filter((name) => record[name] === null && !keyType.safeParse(name).success)
    .map((name) => `${prefix}/${escapePointer(name)}`)

const patchDocument = (patch: Patch, resource: JsonObject, body: z.ZodType): unknown => {
  if (patch.kind === 'merge') {
    const unknown = unknownMembers(patch.document, resource, body, '')
    if (unknown.length > 0)
      throw invalid(
        ...unknown.slice(0, MAX_ERRORS).map((pointer) => ({ pointer, detail: UNKNOWN_NAME })),
      )
    return mergePatch(resource, patch.document)
  }
  const outcome = applyJsonPatch(resource, patch.steps)
  if (outcome.ok) return outcome.document
  const pointer = `/${outcome.step}`
  if (outcome.refusal === 'test-failed')
    throw new Problem('patch-test-failed', {
      errors: [{ pointer, detail: 'does not match the resource' }],
    })
  throw invalidPatch({
    pointer,
    detail:
      outcome.refusal === 'too-large'
        ? 'must not copy more than 1 MiB in total'
        : 'must point to an existing place in the resource',
  })
}

/** Whether a patch sets or removes a member of the resource, to whatever value. */
export const changesMember = (patch: Patch, name: string): boolean => {
  if (patch.kind === 'merge') return Object.hasOwn(patch.document, name)
  return patch.steps.some(
    ({ op, path }) => op !== 'test' && (path === '' || path.split('/')[1] === name),
  )
}

/** Typed clients write a time in another way: `…+00:00` for `….000Z`. */
const isUnchanged = (before: unknown, after: unknown): boolean =>
  sameJson(before, after) ||
  (typeof before === 'string' &&
    typeof after === 'string' &&
    /^\d{4}-\d\d-\d\dT/.test(after) &&
    Date.parse(before) === Date.parse(after))

/** Applies the whole patch, or throws; the result is checked like a PUT, by `replace`. */
export const applyPatch = <O extends Operation & { body: z.ZodType }>(
  patch: Patch,
  bare: JsonObject,
  replace: O,
): z.output<O['body']> => {
  const resource: JsonObject = { success: true, ...bare }
  const result = patchDocument(patch, resource, replace.body)
  if (!isObject(result))
    throw invalidPatch({ pointer: '', detail: 'must leave the resource an object' })
  const changed = new Set(
    ['success', ...(replace.ignored ?? [])].filter(
      (name) => !isUnchanged(resource[name] ?? null, result[name] ?? null),
    ),
  )
  if (changed.size > 0) {
    throw invalidPatch(
      ...[...changed].map((name) => ({
        pointer: `/${escapePointer(name)}`,
        detail: 'is written by the server and cannot be changed',
      })),
    )
  }
  return parseBare(replace, result, '') as z.output<O['body']>
}
