import type { CreateDocumentOptions, oas31 } from 'zod-openapi'

type Schema = oas31.SchemaObject

/** `anyOf` a type and null becomes one nullable type, which client generators handle better. */
const joinNull = (schema: Schema): void => {
  const [first, second, ...others] = (schema.anyOf ?? []) as Schema[]
  if (!first || second?.type !== 'null' || others.length > 0) return
  if (typeof first.type !== 'string' || first.enum || first.const !== undefined) return
  delete schema.anyOf
  Object.assign(schema, { ...first, ...schema, type: [first.type, 'null'] })
}

/** Drops what does not help readers: limits of JavaScript and patterns of well-known formats. */
export const tidy: NonNullable<CreateDocumentOptions['override']> = ({
  jsonSchema,
  zodSchema,
  io,
}) => {
  const { def } = zodSchema._zod
  if (jsonSchema.minimum === Number.MIN_SAFE_INTEGER) delete jsonSchema.minimum
  if (jsonSchema.maximum === Number.MAX_SAFE_INTEGER) delete jsonSchema.maximum
  if (jsonSchema.format === 'date-time' || jsonSchema.format === 'email') delete jsonSchema.pattern
  if (jsonSchema.example !== undefined) {
    jsonSchema.examples = [jsonSchema.example]
    delete jsonSchema.example
  }
  joinNull(jsonSchema as Schema)
  // Replies may gain members, so the schema must not forbid them.
  if (io === 'output' && def.type === 'object' && !def.catchall)
    delete jsonSchema.additionalProperties
}

/** Members beside a `$ref` apply to it: a reference with a description of its own forbade all members. */
export const openReferences = (node: unknown): void => {
  if (typeof node !== 'object' || node === null) return
  const schema = node as Schema
  if (schema.$ref !== undefined && schema.additionalProperties === false)
    delete schema.additionalProperties
  for (const member of Object.values(node)) openReferences(member)
}
