import type { oas31 } from 'zod-openapi'

type Schema = oas31.SchemaObject
type Node = Schema | oas31.ReferenceObject
type Schemas = Record<string, Node>

const DEEPEST = 12
const FORMATS: Record<string, string> = {
  'date-time': '2026-11-14T09:30:00.000Z',
  date: '2027-01-01',
  email: 'ada@example.com',
}

const resolved = (node: Node, schemas: Schemas): Schema => {
  const target = node.$ref && schemas[node.$ref.slice('#/components/schemas/'.length)]
  return target ? resolved(target, schemas) : (node as Schema)
}

/** Says enough of itself to be shown; a nullable value that does not is shown as null. */
const says = (schema: Schema): boolean =>
  !!(schema.examples ?? schema.properties ?? schema.enum ?? schema.format ?? schema.items)

const ofUnion = (options: Node[], schemas: Schemas, depth: number): unknown => {
  const [first = {}, ...others] = options.map((option) => resolved(option, schemas))
  return others.some(({ type }) => type === 'null') && !says(first)
    ? null
    : exampleOf(first, schemas, depth)
}

const ofObject = (
  { properties = {}, required = [] }: Schema,
  schemas: Schemas,
  depth: number,
): object =>
  Object.fromEntries(
    Object.entries(properties).flatMap(([name, node]) => {
      const member = resolved(node, schemas)
      if (member.readOnly || (!required.includes(name) && !member.examples)) return []
      return [[name, exampleOf(member, schemas, depth + 1)]]
    }),
  )

/** A value that the schema describes, made of the examples its members carry. */
export const exampleOf = (node: Node, schemas: Schemas, depth = 0): unknown => {
  const schema = resolved(node, schemas)
  if (schema.examples?.length) return schema.examples[0]
  if (schema.const !== undefined) return schema.const
  if (schema.default !== undefined) return schema.default
  if (schema.enum) return schema.enum[0]
  const options = schema.anyOf ?? schema.oneOf
  if (options) return ofUnion(options, schemas, depth)
  if (depth > DEEPEST) return null
  const types = [schema.type].flat()
  if (types.includes('null') && !says(schema)) return null
  switch (types[0]) {
    case 'object':
      return ofObject(schema, schemas, depth)
    case 'array':
      return schema.items && (schema.minItems ?? 1) > 0
        ? [exampleOf(schema.items, schemas, depth + 1)]
        : []
    case 'string':
      return FORMATS[schema.format ?? ''] ?? 'text'
    case 'integer':
    case 'number':
      return schema.minimum ?? 0
    case 'boolean':
      return false
    default:
      return null
  }
}

const EXEMPLIFIED = [
  'application/json',
  'application/merge-patch+json',
  'application/json-patch+json',
]

const contentsOf = ({
  requestBody,
  responses = {},
}: oas31.OperationObject): oas31.MediaTypeObject[] =>
  [requestBody, ...Object.values(responses)].flatMap((part) => {
    const { content = {} } = (part ?? {}) as Partial<oas31.ResponseObject>
    return EXEMPLIFIED.flatMap((type) => content[type] ?? [])
  })

/** Gives every JSON body and reply of the document an example where the contract has none of its own. */
export const addExamples = (document: oas31.OpenAPIObject): void => {
  const schemas = (document.components?.schemas ?? {}) as Schemas
  const items = [...Object.values(document.paths ?? {}), ...Object.values(document.webhooks ?? {})]
  const operations = items.flatMap((item) => Object.values(item) as oas31.OperationObject[])
  for (const media of operations.flatMap(contentsOf)) {
    if (media.schema && media.example === undefined && !media.examples)
      media.example = exampleOf(media.schema, schemas)
  }
}
