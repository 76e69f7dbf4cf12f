import type { oas31 } from 'zod-openapi'
import {
  operationsOf,
  type Schema,
  type Schemas,
  schemasOf,
  targetOf,
} from './schemas/reference.ts'

type Node = Schema | oas31.ReferenceObject

const MAX_DEPTH = 12
const FORMAT_EXAMPLES: Record<string, string> = {
  'date-time': '2026-11-14T09:30:00.000Z',
  date: '2027-01-01',
  email: 'ada@example.com',
}

const resolveReference = (node: Node, schemas: Schemas): Schema => {
  const target = targetOf(node as Schema, schemas)
  return target ? resolveReference(target, schemas) : (node as Schema)
}

/** Whether a schema is specific enough for an example; other nullable values become null. */
const isSpecific = (schema: Schema): boolean =>
  !!(schema.examples ?? schema.properties ?? schema.enum ?? schema.format ?? schema.items)

const unionExample = (options: Node[], schemas: Schemas, depth: number): unknown => {
  const [first = {}, ...others] = options.map((option) => resolveReference(option, schemas))
  return others.some(({ type }) => type === 'null') && !isSpecific(first)
    ? null
    : exampleOf(first, schemas, depth)
}

const objectExample = (
  { properties = {}, required = [] }: Schema,
  schemas: Schemas,
  depth: number,
): object =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, node]) => {
      const member = resolveReference(node, schemas)
      if (member.readOnly || (!required.includes(name) && !member.examples)) return []
      return [[name, exampleOf(member, schemas, depth + 1)]]
    }),
  )

/** A value of the schema, made from the examples of its members. */
const exampleOf = (node: Node, schemas: Schemas, depth = 0): unknown => {
  const schema = resolveReference(node, schemas)
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const options = schema.anyOf ?? schema.oneOf
  if (options) return unionExample(options, schemas, depth)
  if (schema.allOf)
    return Object.assign({}, ...schema.allOf.map((part) => exampleOf(part, schemas, depth)))
  if (depth > MAX_DEPTH) return null
  const types = [schema.type].flat()
  if (types.includes('null') && !isSpecific(schema)) return null
  switch (types[0]) {
    case 'object':
      return objectExample(schema, schemas, depth)
    case 'array':
      return schema.items && (schema.minItems ?? 1) > 0
        ? [exampleOf(schema.items, schemas, depth + 1)]
        : []
    case 'string':
      return FORMAT_EXAMPLES[schema.format ?? ''] ?? 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    default:
      return null
  }
}

const contentsOf = ({
  requestBody,
  responses = {},
}: oas31.OperationObject): oas31.MediaTypeObject[] =>
  [requestBody, ...Object.values(responses)].flatMap((part) => {
    const { content = {} } = (part ?? {}) as Partial<oas31.ResponseObject>
    return content['application/json'] ?? []
  })

/** Adds an example to every JSON body and reply whose contract has none. */
export const addExamples = (document: oas31.OpenAPIObject): void => {
  const schemas = schemasOf(document)
  const operations = operationsOf({ ...document.paths, ...document.webhooks } as oas31.PathsObject)
  for (const media of operations.flatMap(contentsOf))
    if (media.schema && !media.examples)
      media.examples = { default: { value: exampleOf(media.schema, schemas) } }
}
