/* The parts of the OpenAPI document that the Python client is made from. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  format?: string
  const?: unknown
  enum?: unknown[]
  description?: string
  properties?: Record<string, Schema>
  required?: string[]
  items?: Schema
  additionalProperties?: Schema | boolean
  allOf?: Schema[]
  anyOf?: Schema[]
  oneOf?: Schema[]
  readOnly?: boolean
}

export interface Parameter {
  $ref?: string
  in: string
  name: string
  required?: boolean
  description?: string
  schema: Schema
}

export interface Content {
  content?: Record<string, { schema?: Schema }>
  required?: boolean
}

export interface Operation {
  operationId: string
  summary?: string
  description?: string
  deprecated?: boolean
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: Content
  responses: Record<string, Content>
}

export interface ApiDocument {
  paths: Record<string, Record<string, Operation>>
  components: { schemas: Record<string, Schema>; parameters: Record<string, Parameter> }
}

export const METHODS = ['get', 'post', 'put', 'patch', 'delete']
export const JSON_TYPE = 'application/json'

/** `deviceId` → `device_id`; a word that Python reserves gets an underscore, `from_`. */
export const snakeCase = (name: string): string => {
  const snake = name
    .replaceAll('-', '_')
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
  return RESERVED.has(snake) ? `${snake}_` : snake
}

export const RESERVED = new Set(
  'and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield None True False'.split(
    ' ',
  ),
)

/** The successful replies of an operation, by media type. */
export const repliesOf = ({ responses }: Operation): [string, Schema][] =>
  Object.entries(responses)
    .filter(([status]) => status.startsWith('2'))
    .flatMap(([, { content = {} }]) =>
      Object.entries(content).map(([type, { schema = {} }]): [string, Schema] => [type, schema]),
    )
