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

const asText = (value: unknown): string =>
  value === '' ? 'empty' : value === null ? 'null' : `\`${JSON.stringify(value)}\``

/**
 * Writes the default of each member into its description: client generators take a member with
 * `default` for one that is always there, and require it in requests.
 */
const describeDefaults = ({ properties = {} }: Schema): void => {
  for (const member of Object.values(properties) as Schema[]) {
    if (member.default === undefined) continue
    const { default: value, description = '' } = member
    delete member.default
    if (!/\bDefault:/.test(description) && JSON.stringify(value) !== '{}')
      member.description = `${description} Default: ${asText(value)}.`.trim()
  }
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
  if (io === 'input' && def.type === 'object') describeDefaults(jsonSchema as Schema)
  // Replies may gain members, so the schema must not forbid them.
  if (io === 'output' && def.type === 'object' && !def.catchall)
    delete jsonSchema.additionalProperties
}
