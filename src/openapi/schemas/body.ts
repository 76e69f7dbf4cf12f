import * as z from 'zod'
import type { oas31, ZodOpenApiRequestBodyObject } from 'zod-openapi'
import { escapePointer, isObject } from '../../domain/text/json.ts'
import { jsonPatch } from '../../http/body/patch.ts'
import type { Operation } from '../../http/contract/contract.ts'
import { mergePatchOf } from './mergePatch.ts'
import { pascal } from './names.ts'

type Schema = oas31.SchemaObject

const writtenByServer = (accepted: string): Schema & { readOnly: true } => ({
  readOnly: true,
  description: `Written by the server. Accepted ${accepted}.`,
})
const IGNORED = writtenByServer('and ignored')
const UNCHANGED = writtenByServer('if unchanged')

/** Adds members to a schema, so that what `GET` returns can be sent back. */
const addMembers = (schema: Schema, members: Record<string, Schema>): Schema => {
  const { properties, anyOf, oneOf } = schema
  return {
    ...schema,
    ...(properties && { properties: { ...properties, ...members, ...properties } }),
    ...(anyOf && { anyOf: anyOf.map((option) => addMembers(option as Schema, members)) }),
    ...(oneOf && { oneOf: oneOf.map((option) => addMembers(option as Schema, members)) }),
  }
}

const components = new WeakMap<z.ZodType, Map<string, z.ZodType>>()

/**
 * The schema with the ignored members, as a component. Operations with the same body share one,
 * unless they ignore different members.
 */
const component = (
  operationId: string,
  schema: z.ZodType,
  ignored: readonly string[] = [],
  ignoredSchema: Schema,
): z.ZodType => {
  const known = components.get(schema) ?? new Map<string, z.ZodType>()
  components.set(schema, known)
  const variant = JSON.stringify([...ignored].sort())
  const found = known.get(variant)
  if (found) return found
  const members = Object.fromEntries(ignored.map((name) => [name, ignoredSchema]))
  const meta = schema.meta()
  const override = ({ jsonSchema }: { jsonSchema: object }) => {
    Object.assign(jsonSchema, addMembers(jsonSchema as Schema, members), meta?.override)
  }
  const id = known.size === 0 && meta?.id ? meta.id : `${pascal(operationId)}Body`
  const made = z.clone(schema, schema._zod.def).meta({ ...meta, id, override })
  known.set(variant, made)
  return made
}

const bareOrWrapped = (
  bare: z.ZodType,
  wrapper: string | undefined,
): [z.ZodType, ...z.ZodType[]] => (wrapper ? [bare, wrapped(bare, wrapper)] : [bare])

const wrappers = new WeakMap<z.ZodType, z.ZodType>()

/** The body as `GET` returns it: under a name, beside `success`. */
const wrapped = (bare: z.ZodType, wrapper: string): z.ZodType => {
  const made =
    wrappers.get(bare) ??
    z
      .strictObject({
        [wrapper]: bare,
        success: z
          .unknown()
          .optional()
          .meta({ ...IGNORED }),
      })
      .meta({ id: `Wrapped${bare.meta()?.id}` })
  wrappers.set(bare, made)
  return made
}

const oneOf = (options: [z.ZodType, ...z.ZodType[]]): z.ZodType =>
  options.length === 1 ? options[0] : z.union(options)

const patchSteps = jsonPatch.meta({
  id: 'JsonPatch',
  description: 'A JSON Patch (RFC 6902). It is applied completely or not at all.',
  example: [{ op: 'replace', path: '/name', value: 'A new name' }],
})

const pointersOf = (document: object, prefix = ''): [pointer: string, value: unknown][] =>
  Object.entries(document).flatMap(([name, value]) => {
    const pointer = `${prefix}/${escapePointer(name)}`
    return typeof value === 'object' && value !== null && !Array.isArray(value)
      ? pointersOf(value, pointer)
      : [[pointer, value]]
  })

/** The JSON Patch that is equivalent to a merge patch. */
const toSteps = (document: object) =>
  pointersOf(document).map(([path, value]) =>
    value === null ? { op: 'remove', path } : { op: 'replace', path, value },
  )

const patchBody = (
  { id, example }: Operation,
  { body = z.looseObject({}), ignored, wrapper }: Operation,
): ZodOpenApiRequestBodyObject => {
  const documents = bareOrWrapped(component(id, mergePatchOf(body), ignored, UNCHANGED), wrapper)
  return {
    description:
      'A JSON Merge Patch (RFC 7396) or a JSON Patch (RFC 6902): an object is a merge patch and an array a JSON Patch. The precise types `application/merge-patch+json` and `application/json-patch+json` are accepted too.',
    required: true,
    // One media type: generated clients cannot choose between several by the kind of the body.
    content: {
      'application/json': {
        schema: z.union([...documents, patchSteps]),
        ...(isObject(example) && {
          examples: {
            'merge-patch': { summary: 'JSON Merge Patch', value: example },
            'json-patch': { summary: 'JSON Patch', value: toSteps(example) },
          },
        }),
      },
    },
  }
}

/** The body of an operation. */
export const requestBody = (contract: Operation): ZodOpenApiRequestBodyObject | undefined => {
  const { id, body, patches, wrapper, ignored, optionalBody, example, upload } = contract
  if (patches) return patchBody(contract, patches)
  if (upload)
    return {
      description: upload.description,
      required: true,
      content: { [upload.type]: { schema: { type: 'string', format: 'binary' } } },
    }
  if (!body) return undefined
  const schema = oneOf(bareOrWrapped(component(id, body, ignored, IGNORED), wrapper))
  return {
    required: !optionalBody,
    content: {
      'application/json': {
        schema,
        ...(example !== undefined && { examples: { default: { value: example } } }),
      },
    },
  }
}
