import type { oas31 } from 'zod-openapi'
import { type Schema, type Schemas, schemasOf, targetOf } from './schemas/reference.ts'

type Links = Record<string, oas31.LinkObject>

interface Located {
  path: string
  method: string
  operation: oas31.OperationObject
}

const LAST_PARAMETER = /\/\{[A-Za-z]+\}$/

const membersOf = (node: Schema, schemas: Schemas): Schemas => {
  const target = targetOf(node, schemas)
  if (target) return membersOf(target, schemas)
  const parts = (node.allOf ?? []) as Schema[]
  return Object.assign({}, node.properties, ...parts.map((part) => membersOf(part, schemas)))
}

/** Where a reply has the id of the resource, or of the first one of a list. */
const findIdPointer = (members: Schemas, schemas: Schemas): string | undefined => {
  if (members.id) return '/id'
  for (const [name, member] of Object.entries(members)) {
    if (membersOf(member, schemas).id) return `/${name}/id`
    const { items } = member as { items?: Schema }
    if (items && membersOf(items, schemas).id) return `/${name}/0/id`
  }
  return undefined
}

const locate = ({ paths = {} }: oas31.OpenAPIObject): Located[] =>
  Object.entries(paths).flatMap(([path, item]) =>
    Object.entries(item).map(([method, operation]) => ({ path, method, operation })),
  )

const linkTo = (
  { operation: { operationId = '', summary } }: Located,
  parameters: Record<string, string>,
): Links => ({ [operationId]: { operationId, description: `${summary}.`, parameters } })

const parametersIn = (path: string): string[] =>
  [...path.matchAll(/\{([A-Za-z]+)\}/g)].map(([, name = '']) => name)

/** Takes the parameters from the path of the request. */
const fromRequest = (names: string[]): Record<string, string> =>
  Object.fromEntries(names.map((name) => [name, `$request.path.${name}`]))

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
const linksToItems = (from: Located, all: Located[], pointer: string): Links[] =>
  all
    .filter((target) => isItemOf(from, target, pointer))
    .map((target) => {
      const names = parametersIn(target.path)
      const known = parametersIn(from.path).filter((name) => names.includes(name))
      const id = { [names.at(-1) ?? '']: `$response.body#${pointer}` }
      return linkTo(target, { ...fromRequest(known), ...id })
    })

/** A link cannot know what to ask for, such as a span of time. */
const needsQuery = ({ parameters = [] }: oas31.OperationObject): boolean =>
  parameters.some((one) => 'in' in one && one.in === 'query' && one.required === true)

/** From an item to what else can be done with it. */
const linksFromItem = (from: Located, all: Located[]): Links[] => {
  const known = parametersIn(from.path)
  const targets = all.filter(
    ({ path, operation }) =>
      operation !== from.operation &&
      !needsQuery(operation) &&
      path.startsWith(from.path) &&
      parametersIn(path).length === known.length,
  )
  return targets.map((target) => linkTo(target, fromRequest(known)))
}

const linkToNextPage = ({ path, operation: { operationId = '' } }: Located): Links => ({
  nextPage: {
    operationId,
    description: 'The next page, if `nextCursor` is not null.',
    parameters: { ...fromRequest(parametersIn(path)), cursor: '$response.body#/nextCursor' },
  },
})

const linksOf = (from: Located, all: Located[], members: Schemas, schemas: Schemas): Links[] => {
  const isRead = from.method === 'get'
  if (LAST_PARAMETER.test(from.path)) return isRead ? linksFromItem(from, all) : []
  const pointer = findIdPointer(members, schemas)
  return [
    ...(pointer ? linksToItems(from, all, pointer) : []),
    ...(isRead && 'nextCursor' in members ? [linkToNextPage(from)] : []),
  ]
}

/** Says how the reply of one operation leads to others: create → read, list → read and so on. */
export const addLinks = (document: oas31.OpenAPIObject): void => {
  const all = locate(document)
  const schemas = schemasOf(document)
  for (const from of all)
    for (const status of ['200', '201']) {
      const response = from.operation.responses?.[status] as oas31.ResponseObject | undefined
      const schema = response?.content?.['application/json']?.schema as Schema | undefined
      if (!response || !schema) continue
      const links = linksOf(from, all, membersOf(schema, schemas), schemas)
      if (links.length > 0) response.links = Object.assign({}, ...links)
    }
}
