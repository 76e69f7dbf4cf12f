import * as z from 'zod'
import { escapePointer, isObject, type JsonObject, mergePatch, sameJson } from '../domain/json.ts'
import { applyJsonPatch, type PatchStep } from '../domain/jsonPatch.ts'
import type { Operation } from './contract.ts'
import { parseBare, rejectSiblings } from './parseBody.ts'
import { type FieldError, invalid, Problem } from './problem.ts'
import { depthOf, fieldErrors, MAX_ERRORS, unwrapped } from './validation.ts'

export type Patch = { kind: 'json'; steps: PatchStep[] } | { kind: 'merge'; document: JsonObject }

/** No resource is nested as deep, and what walks a patch must not run out of stack. */
const DEEPEST = 32

const pointer = z
  .string()
  .refine(
    (text) => (text === '' || text.startsWith('/')) && !/~(?![01])/.test(text),
    'must be a JSON Pointer',
  )
  .refine(
    (text) => !text.split('/').includes('__proto__'),
    'must not lead to a name that cannot be kept',
  )
  .refine(
    (text) => text.split('/').length - 1 <= DEEPEST,
    `must not lead deeper than ${DEEPEST} levels`,
  )
  .meta({ format: 'json-pointer' })
const value = z.unknown().refine((given) => given !== undefined, 'is required')
/** More than a body has room for, if each does something to a list of ids. */
const MAX_STEPS = 20_000
export const jsonPatch = z
  .array(
    z.discriminatedUnion('op', [
      z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value }),
      z.object({ op: z.literal('remove'), path: pointer }),
      z.object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer }),
    ]),
  )
  .max(MAX_STEPS, `must have at most ${MAX_STEPS} steps`)

/** The content type decides, and under plain application/json the shape does. */
export const parsePatch = (contentType: string, body: unknown): Patch => {
  if (depthOf(body, DEEPEST) > DEEPEST)
    throw invalid({ pointer: '', detail: `must not be nested deeper than ${DEEPEST} levels` })
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json-patch+json' && isObject(body))
    return { kind: 'merge', document: body }
  if (type === 'application/merge-patch+json')
    throw invalid({ pointer: '', detail: 'must be an object' })
  const parsed = jsonPatch.safeParse(body)
  if (!parsed.success) throw invalid(...fieldErrors(parsed.error, ''))
  return { kind: 'json', steps: parsed.data as PatchStep[] }
}

const invalidPatch = (...errors: FieldError[]) => new Problem('invalid-patch', { errors })

/** A patch may speak of a resource bare or under its wrapper, as `GET` gives it. `prefix`: where in the body it then speaks. */
const unwrapPatch = (
  patch: Patch,
  wrapper: string | undefined,
): { patch: Patch; prefix: string } => {
  if (!wrapper) return { patch, prefix: '' }
  if (patch.kind === 'merge') {
    const inner = patch.document[wrapper]
    if (!isObject(inner)) return { patch, prefix: '' }
    rejectSiblings(patch.document, wrapper)
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

/**
 * Members that a merge patch takes away though the resource never has them: a slip of the pen that would otherwise pass for done.
 * Of the names in a record, such as tags, any that it could hold may be there or not.
 */
const unknownMembers = (
  document: JsonObject,
  resource: JsonObject,
  body: z.ZodType,
  prefix: string,
): string[] =>
  Object.entries(document).flatMap(([name, value]) => {
    const at = `${prefix}/${escapePointer(name)}`
    const held = Object.hasOwn(resource, name) ? resource[name] : undefined
    if (value === null) return held === undefined ? [at] : []
    const member = (body as Partial<z.ZodObject>).shape?.[name] as z.ZodType | undefined
    if (!isObject(value) || !isObject(held) || !member) return []
    const { keyType } = unwrapped(member)._zod.def as { keyType?: z.ZodType }
    return keyType
      ? unknownKeys(value, keyType, at)
      : unknownMembers(value, held, unwrapped(member), at)
  })

const unknownKeys = (record: JsonObject, keyType: z.ZodType, prefix: string): string[] =>
  Object.keys(record)
    .filter((name) => record[name] === null && !keyType.safeParse(name).success)
    .map((name) => `${prefix}/${escapePointer(name)}`)

const patchDocument = (
  patch: Patch,
  resource: JsonObject,
  body: z.ZodType,
  prefix: string,
): unknown => {
  if (patch.kind === 'merge') {
    const unknown = unknownMembers(patch.document, resource, body, prefix)
    if (unknown.length > 0)
      throw invalid(
        ...unknown.slice(0, MAX_ERRORS).map((at) => ({ pointer: at, detail: 'is not known' })),
      )
    return mergePatch(resource, patch.document)
  }
  const outcome = applyJsonPatch(resource, patch.steps)
  if (outcome.ok) return outcome.document
  const at = `/${outcome.step}`
  if (outcome.refusal === 'test-failed')
    throw new Problem('patch-test-failed', { errors: [{ pointer: at, detail: 'does not hold' }] })
  throw invalidPatch({
    pointer: at,
    detail:
      outcome.refusal === 'too-large'
        ? 'makes the resource too large'
        : 'does not name a place in the resource',
  })
}

/** What a resource becomes under a patch, read by the contract that replaces it. All of the patch, or a problem. */
export const applyPatch = <O extends Operation & { body: z.ZodType }>(
  given: Patch,
  bare: JsonObject,
  replace: O,
): z.output<O['body']> => {
  const { patch, prefix } = unwrapPatch(given, replace.wrapper)
  const resource: JsonObject = { success: true, ...bare }
  const result = patchDocument(patch, resource, replace.body, prefix)
  if (!isObject(result)) throw invalidPatch({ pointer: '', detail: 'must leave an object' })
  const written = new Set(
    ['success', ...(replace.ignored ?? [])].filter(
      (name) => !sameJson(resource[name] ?? null, result[name] ?? null),
    ),
  )
  if (written.size > 0) {
    throw invalidPatch(
      ...[...written].map((name) => ({
        pointer: `${prefix}/${escapePointer(name)}`,
        detail: 'is written by the server and cannot be changed',
      })),
    )
  }
  return parseBare(replace, result, prefix) as z.output<O['body']>
}
