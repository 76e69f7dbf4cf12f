/* Turns the OpenAPI document into the TypeScript types of the console. */

interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  readOnly?: boolean
}

interface Content {
  content?: Record<string, { schema?: Schema }>
}

interface Operation {
  requestBody?: Content
  responses: Record<string, Content>
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema> }
}

const EVENT_PREFIX = 'Event.'
const METHODS = ['get', 'post', 'put', 'patch', 'delete']

const typeName = (name: string): string =>
  name.replaceAll(/(?:^|\.)([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())

const refName = (ref: string): string => typeName(ref.slice(ref.lastIndexOf('/') + 1))

const ofObject = ({
  properties = {},
  required = [],
  additionalProperties: rest,
}: Schema): string => {
  const members = Object.entries(properties)
    .filter(([, { readOnly }]) => !readOnly)
    .map(([name, schema]) => `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`)
  if (members.length > 0) return `{ ${members.join('; ')} }`
  return `Record<string, ${typeof rest === 'object' ? typeOf(rest) : 'unknown'}>`
}

const union = (types: string[]): string => {
  const unique = [...new Set(types)]
  return unique.length === 1 ? (unique[0] ?? 'never') : `(${unique.join(' | ')})`
}

const ofNamedType = (schema: Schema, type: string | undefined): string => {
  if (type === 'string' || type === 'boolean' || type === 'null') return type
  if (type === 'number' || type === 'integer') return 'number'
  if (type === 'array') return `${schema.items ? typeOf(schema.items) : 'unknown'}[]`
  if (type === 'object' || schema.properties) return ofObject(schema)
  return 'unknown'
}

function typeOf(schema: Schema): string {
  if (schema.$ref) return refName(schema.$ref)
  if ('const' in schema) return JSON.stringify(schema.const)
  const nullable = Array.isArray(schema.type) && schema.type.includes('null') ? ['null'] : []
  if (schema.enum) return union([...schema.enum.map((value) => JSON.stringify(value)), ...nullable])
  if (schema.allOf) return schema.allOf.map(typeOf).join(' & ')
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return union(choices.map(typeOf))
  const types = Array.isArray(schema.type) ? schema.type : [schema.type]
  return union(types.map((type) => ofNamedType(schema, type)))
}

const jsonType = ({ content = {} }: Content = {}): string => {
  const schema = content['application/json']?.schema
  return schema ? typeOf(schema) : 'never'
}

const ofOperation = ({ requestBody, responses }: Operation): string => {
  const replies = Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .map(([, content]) => jsonType(content))
    .filter((type) => type !== 'never')
  return `{ reply: ${replies.length > 0 ? union(replies) : 'never'}; body: ${jsonType(requestBody)} }`
}

/** The text of `console/api/types.ts`. Formatting is left to Biome. */
export const apiTypes = ({ paths, components }: ApiDocument): string => {
  const schemas = Object.entries(components.schemas).map(
    ([name, schema]) => `export type ${typeName(name)} = ${typeOf(schema)}`,
  )
  const operations = Object.entries(paths)
    .filter(([path]) => path.startsWith('/api/'))
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method]
        return operation ? `'${method.toUpperCase()} ${path}': ${ofOperation(operation)}` : []
      }),
    )
  const events = Object.keys(components.schemas).filter((name) => name.startsWith(EVENT_PREFIX))
  return [
    '// Written by `npm run openapi` from public/api/openapi.json. Do not edit.',
    '',
    ...schemas,
    '',
    '/** Every type of event, by kind. */',
    `export const EVENT_TYPES = [${events.map((name) => `'${name.slice(EVENT_PREFIX.length)}'`).join()}] as const`,
    '',
    '/** What each operation takes and replies. */',
    'export interface Operations {',
    ...operations,
    '}',
    '',
  ].join('\n')
}
