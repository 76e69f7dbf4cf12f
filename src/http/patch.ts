import * as z from 'zod'
import { escapePointer, isObject, type JsonObject, mergePatch, sameJson } from '../domain/json.ts'
import { applyJsonPatch, type PatchStep } from '../domain/jsonPatch.ts'
import { parseBody } from './body.ts'
import type { Context } from './context.ts'
import type { Operation } from './contract.ts'
import { type FieldError, invalid, Problem } from './problem.ts'
import { fieldErrors } from './validation.ts'

export type Patch = { kind: 'json'; steps: PatchStep[] } | { kind: 'merge'; document: JsonObject }

const pointer = z.string().regex(/^(\/([^~/]|~[01])*)*$/, 'must be a JSON Pointer')
const value = z.unknown().refine((given) => given !== undefined, 'is required')
export const jsonPatch = z.array(
  z.discriminatedUnion('op', [
    z.object({ op: z.enum(['add', 'replace', 'test']), path: pointer, value }),
    z.object({ op: z.literal('remove'), path: pointer }),
    z.object({ op: z.enum(['move', 'copy']), path: pointer, from: pointer }),
  ]),
)

/** The content type decides, and under plain application/json the shape does. */
export const parsePatch = (contentType: string, body: unknown): Patch => {
  const type = contentType.split(';', 1)[0]?.trim().toLowerCase()
  if (type !== 'application/json-patch+json' && isObject(body)) return { kind: 'merge', document: body }
  if (type === 'application/merge-patch+json') throw invalid({ pointer: '', detail: 'must be an object' })
  const parsed = jsonPatch.safeParse(body)
  if (!parsed.success) throw invalid(...fieldErrors(parsed.error, ''))
  return { kind: 'json', steps: parsed.data as PatchStep[] }
}

const impossible = (...errors: FieldError[]) => new Problem('invalid-patch', { errors })

/** A patch may speak of a resource bare or under its wrapper, as `GET` gives it. */
const unwrapped = (patch: Patch, wrapper: string | undefined): Patch => {
  if (!wrapper) return patch
  if (patch.kind === 'merge') {
    const inner = patch.document[wrapper]
    return isObject(inner) ? { kind: 'merge', document: inner } : patch
  }
  const strip = (path: string) => (path === `/${wrapper}` || path.startsWith(`/${wrapper}/`) ? path.slice(wrapper.length + 1) : path)
  return {
    kind: 'json',
    steps: patch.steps.map((step) => ({ ...step, path: strip(step.path), ...('from' in step && { from: strip(step.from) }) }) as PatchStep),
  }
}

const apply = (patch: Patch, resource: JsonObject): unknown => {
  if (patch.kind === 'merge') return mergePatch(resource, patch.document)
  const outcome = applyJsonPatch(resource, patch.steps)
  if (outcome.ok) return outcome.document
  const at = `/${outcome.step}`
  if (outcome.refusal === 'test-failed') throw new Problem('patch-test-failed', { errors: [{ pointer: at, detail: 'does not hold' }] })
  throw impossible({
    pointer: at,
    detail: outcome.refusal === 'too-large' ? 'makes the resource too large' : 'does not name a place in the resource',
  })
}

/** What a resource becomes under a patch, read by the contract that replaces it. All of the patch, or a problem. */
export const patched = <O extends Operation & { body: z.ZodType }>(patch: Patch, resource: JsonObject, replace: O): z.output<O['body']> => {
  const result = apply(unwrapped(patch, replace.wrapper), resource)
  if (!isObject(result)) throw impossible({ pointer: '', detail: 'must leave an object' })
  const written = (replace.ignored ?? []).filter((name) => !sameJson(resource[name], result[name]))
  if (written.length > 0) {
    throw impossible(
      ...written.map((name) => ({ pointer: `/${escapePointer(name)}`, detail: 'is written by the server and cannot be changed' })),
    )
  }
  return parseBody({ ...replace, wrapper: '' }, result) as z.output<O['body']>
}

const MOST_TRIES = 100

/**
 * Reads, patches and writes until no rival came between. With If-Match a lost race is the caller's to hear of;
 * without it every round has a winner, so trying again ends.
 */
export const untilUnrivalled = async <T>(c: Context, attempt: () => Promise<T | 'precondition-failed'>): Promise<T> => {
  for (let tries = 0; tries < MOST_TRIES; tries++) {
    const outcome = await attempt()
    if (outcome !== 'precondition-failed') return outcome
    if (c.get('ifMatch')) throw new Problem('precondition-failed')
  }
  throw new Problem('conflict')
}
