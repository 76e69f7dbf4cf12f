import { Ajv2020 } from 'ajv/dist/2020.js'
import * as addFormats from 'ajv-formats'
import type { oas31 } from 'zod-openapi'
import { templateOf } from '../../src/openapi/path.ts'

type Document = oas31.OpenAPIObject
type Schema = oas31.SchemaObject

/** The target of a reference, or the node itself. */
export const resolved = <T>(document: Document, node: unknown): T => {
  const { $ref } = node as { $ref?: string }
  if (!$ref) return node as T
  return $ref
    .slice(2)
    .split('/')
    .reduce((at: unknown, name) => (at as Record<string, unknown>)[name], document) as T
}

export const operationAt = (
  document: Document,
  method: string,
  path: string,
): oas31.OperationObject => {
  const item = document.paths?.[templateOf(path)] as
    | Record<string, oas31.OperationObject>
    | undefined
  const found = item?.[method.toLowerCase()]
  if (!found) throw new Error(`${method} ${path} is not in the document`)
  return found
}

const mediaIn = (part: unknown, type = 'application/json'): oas31.MediaTypeObject => {
  const media = (part as oas31.ResponseObject | undefined)?.content?.[type]
  if (!media) throw new Error(`no ${type} in ${JSON.stringify(part)}`)
  return media
}

/** The examples of a body or reply, by name. */
export const examplesIn = (part: unknown): Record<string, unknown> =>
  Object.fromEntries(
    Object.entries(mediaIn(part).examples ?? {}).map(([name, example]) => [
      name,
      (example as oas31.ExampleObject).value,
    ]),
  )

/** The first of them. */
export const exampleIn = (part: unknown): unknown => Object.values(examplesIn(part))[0]

export const schemaIn = (part: unknown): Schema => mediaIn(part).schema as Schema

/** The problem codes in an operation's replies. */
export const codesIn = (document: Document, { responses = {} }: oas31.OperationObject): string[] =>
  Object.values(responses).flatMap((reply) => {
    const { content } = resolved<oas31.ResponseObject>(document, reply)
    return Object.values(content?.['application/problem+json']?.examples ?? {}).map(
      (example) => resolved<{ value: { code: string } }>(document, example).value.code,
    )
  })

/** Whether the published schema, as plain JSON Schema, accepts the value. */
export const acceptedBy = (document: Document, schema: Schema, value: unknown): boolean => {
  const ajv = new Ajv2020({ strict: false, logger: false })
  addFormats.default(ajv)
  return ajv.validate({ ...schema, components: document.components }, value)
}
