/* The part of an OpenAPI document that the compatibility check compares. */

export interface Schema {
  $ref?: string
  type?: string | string[]
  const?: unknown
  enum?: unknown[]
  format?: string
  properties?: Record<string, Schema>
  required?: string[]
  additionalProperties?: boolean | Schema
  items?: Schema
  anyOf?: Schema[]
  oneOf?: Schema[]
  allOf?: Schema[]
  [keyword: string]: unknown
}

type Content = Record<string, { schema?: Schema }>

export interface Parameter {
  $ref?: string
  in: string
  name: string
  required?: boolean
  schema?: Schema
}

export interface Reply {
  $ref?: string
  content?: Content
  headers?: Record<string, unknown>
}

export interface OperationObject {
  parameters?: Parameter[]
  requestBody?: { required?: boolean; content?: Content }
  responses?: Record<string, Reply>
  security?: Record<string, string[]>[]
}

type Paths = Record<string, Record<string, OperationObject>>

export interface ApiDocument {
  paths: Paths
  webhooks?: Paths
  components: {
    schemas: Record<string, Schema>
    parameters: Record<string, Parameter>
    responses: Record<string, Reply>
  }
}

/** The API of a release, as `npm run compatible -- --release` stores it. */
export interface Release {
  /** The commit that was released. */
  commit: string
  /** The newest version that it served. */
  version: string
  document: ApiDocument
}

const TEXTS = [
  'title',
  'summary',
  'description',
  'example',
  'examples',
  'links',
  'tags',
  'deprecated',
  'discriminator',
]

/** Members of `properties` and maps of components have names of ours, not keywords. */
const NAME_MAPS = ['properties', 'schemas', 'parameters', 'headers', 'responses', 'content']

const withoutTexts = (node: unknown, hasOwnNames = false): unknown => {
  if (Array.isArray(node)) return node.map((part) => withoutTexts(part))
  if (typeof node !== 'object' || node === null) return node
  return Object.fromEntries(
    Object.entries(node)
      .filter(([name]) => hasOwnNames || !TEXTS.includes(name))
      .map(([name, part]) => [name, withoutTexts(part, !hasOwnNames && NAME_MAPS.includes(name))]),
  )
}

const withoutFailures = (paths: Paths): Paths =>
  Object.fromEntries(
    Object.entries(paths).map(([path, methods]) => [
      path,
      Object.fromEntries(
        Object.entries(methods).map(([method, operation]) => [
          method,
          {
            ...operation,
            responses: Object.fromEntries(
              Object.entries(operation.responses ?? {}).filter(([status]) => !/^[45]/.test(status)),
            ),
          },
        ]),
      ),
    ]),
  )

/** Without texts and error replies, whose shape is one and the same: an eighth of the document. */
export const surfaceOf = (document: ApiDocument): ApiDocument => {
  const { paths, webhooks = {}, components } = withoutTexts(document) as ApiDocument
  const { schemas, parameters } = components
  return {
    paths: withoutFailures(paths),
    webhooks,
    components: { schemas, parameters, responses: {} },
  }
}
