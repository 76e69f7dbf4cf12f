import type { oas31 } from 'zod-openapi'

type Schema = oas31.SchemaObject
type Links = Record<string, oas31.LinkObject>

interface Located {
  path: string
  method: string
  operation: oas31.OperationObject
}

const LAST_PARAMETER = /\/\{([A-Za-z]+)\}$/

class Schemas {
  readonly #components: Record<string, Schema>

  constructor({ components }: oas31.OpenAPIObject) {
    this.#components = (components?.schemas ?? {}) as Record<string, Schema>
  }

  membersOf(node: Schema): Record<string, Schema> {
    const target = node.$ref && this.#components[node.$ref.slice('#/components/schemas/'.length)]
    if (target) return this.membersOf(target)
    const parts = (node.allOf ?? []) as Schema[]
    return Object.assign({}, node.properties, ...parts.map((part) => this.membersOf(part)))
  }

  /** Where a reply has the id of the resource, or of the first one of a list. */
  idPointer(reply: Schema): string | undefined {
    const members = this.membersOf(reply)
    if (members.id) return '/id'
    for (const [name, member] of Object.entries(members)) {
      if (this.membersOf(member).id) return `/${name}/id`
      const { items } = member as { items?: Schema }
      if (items && this.membersOf(items).id) return `/${name}/0/id`
    }
    return undefined
  }
}

const locate = ({ paths = {} }: oas31.OpenAPIObject): Located[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

const linkTo = (
  target: Located,
  parameters: Record<string, string>,
): [string, oas31.LinkObject] => [
  target.operation.operationId ?? '',
  {
    operationId: target.operation.operationId ?? '',
    description: `${target.operation.summary}.`,
    parameters,
  },
]

const parametersIn = (path: string): string[] =>
  [...path.matchAll(/\{([A-Za-z]+)\}/g)].map(([, name = '']) => name)

/** Whether the target is at the id: `/alerts/{alertId}` is at the id of a raised alert, too. */
const isItemOf = (from: Located, { path, operation }: Located, pointer: string): boolean => {
  const [id, ...others] = parametersIn(path).reverse()
  if (!LAST_PARAMETER.test(path)) return false
  if (path.replace(LAST_PARAMETER, '') === from.path) return true
  const [name = '', ...more] = pointer.slice(1).split('/')
  return (
    more.length > 0 &&
    others.length === 0 &&
    `${name.replace(/s$/, '')}Id` === id &&
    operation.tags?.[0] === from.operation.tags?.[0]
  )
}

/** From a collection to its items: the id is in the reply, the rest of the path in the request. */
const linksToItems = (from: Located, all: Located[], pointer: string): Links => {
  const items = all.filter((target) => isItemOf(from, target, pointer))
  return Object.fromEntries(
    items.flatMap((target) => {
      const id = LAST_PARAMETER.exec(target.path)?.[1]
      if (!id) return []
      const known = parametersIn(from.path)
        .filter((name) => parametersIn(target.path).includes(name))
        .map((name) => [name, `$request.path.${name}`])
      return [linkTo(target, { ...Object.fromEntries(known), [id]: `$response.body#${pointer}` })]
    }),
  )
}

/** A link cannot know what to ask for, such as a span of time. */
const needsQuery = ({ parameters = [] }: oas31.OperationObject): boolean =>
  parameters.some((one) => 'in' in one && one.in === 'query' && one.required === true)

/** From an item to what else can be done with it. */
const linksFromItem = (from: Located, all: Located[]): Links => {
  const known = parametersIn(from.path)
  const targets = all.filter(
    ({ path, operation }) =>
      operation !== from.operation &&
      !needsQuery(operation) &&
      path.startsWith(from.path) &&
      parametersIn(path).length === known.length,
  )
  const parameters = Object.fromEntries(known.map((name) => [name, `$request.path.${name}`]))
  return Object.fromEntries(targets.map((target) => linkTo(target, parameters)))
}

const linkToNextPage = (from: Located): Links => {
  const here = parametersIn(from.path).map((name) => [name, `$request.path.${name}`])
  const parameters = { ...Object.fromEntries(here), cursor: '$response.body#/nextCursor' }
  const [, link] = linkTo(from, parameters)
  return { nextPage: { ...link, description: 'The next page, if `nextCursor` is not null.' } }
}

const linksOf = (from: Located, all: Located[], schemas: Schemas, schema: Schema): Links => {
  if (LAST_PARAMETER.test(from.path)) return from.method === 'get' ? linksFromItem(from, all) : {}
  const pointer = schemas.idPointer(schema)
  const isPaged = from.method === 'get' && 'nextCursor' in schemas.membersOf(schema)
  return {
    ...(pointer && linksToItems(from, all, pointer)),
    ...(isPaged && linkToNextPage(from)),
  }
}

/** Says how the reply of one operation leads to others: create → read, list → read and so on. */
export const addLinks = (document: oas31.OpenAPIObject): void => {
  const all = locate(document)
  const schemas = new Schemas(document)
  for (const from of all) {
    for (const status of ['200', '201']) {
      const response = from.operation.responses?.[status] as oas31.ResponseObject | undefined
      const schema = response?.content?.['application/json']?.schema as Schema | undefined
      if (!response || !schema) continue
      const links = linksOf(from, all, schemas, schema)
      if (Object.keys(links).length > 0) response.links = links
    }
  }
}
