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

/** The members of an object, by name, as TypeScript. */
const membersOf = ({ properties = {}, required = [] }: Schema): Map<string, string> =>
  new Map(
    Object.entries(properties)
      .filter(([, { readOnly }]) => !readOnly)
      .map(([name, schema]) => [
        name,
        `${name}${required.includes(name) ? '' : '?'}: ${typeOf(schema)}`,
      ]),
  )

const ofMembers = (members: Iterable<string>): string => `{ ${[...members].join('; ')} }`

/** The named objects of the document, with which others share members. */
let named: readonly { name: string; members: ReadonlyMap<string, string> }[] = []
const MIN_SHARED = 8
const MAX_OMITTED = 1

const optional = (member: string): string => member.replace(/^(\w+)\??:/, '$1?:')

/**
 * `Omit<Location, 'receivedAt'> & { … }` for an object that has nearly all members of another, and
 * `Partial<ZoneBody>` for `PatchZoneBody`.
 */
const ofShared = (members: ReadonlyMap<string, string>, own: string): string | null => {
  const [, patched = null] = /^Patch(.+)/.exec(own) ?? []
  const given = new Set(members.values())
  for (const { name, members: base } of named) {
    if (name === own) return null
    if (patched !== null && name !== patched) continue
    const isShared = (member: string) => given.has(patched ? optional(member) : member)
    const shared = new Map([...base].filter(([, member]) => isShared(member)))
    const omitted = [...base.keys()].filter((key) => !shared.has(key))
    if ((!patched && shared.size < MIN_SHARED) || omitted.length > MAX_OMITTED) continue
    const kept = omitted.length > 0 ? `Omit<${name}, '${omitted.join("' | '")}'>` : name
    const added = [...members].flatMap(([key, member]) => (shared.has(key) ? [] : member))
    const rest = added.length > 0 ? ` & ${ofMembers(added)}` : ''
    return (patched ? `Partial<${kept}>` : kept) + rest
  }
  return null
}

const ofObject = (schema: Schema, own = ''): string => {
  const members = membersOf(schema)
  if (members.size > 0) return ofShared(members, own) ?? ofMembers(members.values())
  const { additionalProperties: rest } = schema
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

const choicesOf = (schema: Schema): string[] => {
  if (schema.$ref) return [refName(schema.$ref)]
  if ('const' in schema) return [JSON.stringify(schema.const)]
  const nullable = Array.isArray(schema.type) && schema.type.includes('null') ? ['null'] : []
  if (schema.enum) return [...schema.enum.map((value) => JSON.stringify(value)), ...nullable]
  if (schema.allOf) return [schema.allOf.map(typeOf).join(' & ')]
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.flatMap(choicesOf)
  return [schema.type].flat().map((type) => ofNamedType(schema, type))
}

function typeOf(schema: Schema): string {
  return union(choicesOf(schema))
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

/** All events have the same members but for their type and their data. */
const ofEvent = ({ properties: { type = {}, data = {} } = {} }: Schema): string =>
  `EventOf<${typeOf(type)}, ${typeOf(data)}>`

const eventBase = (event: Schema): string => {
  const members = membersOf(event).set('type', 'type: Type').set('data', 'data: Data')
  return `type EventOf<Type, Data> = ${ofMembers(members.values())}`
}

/** The types that these texts mention, and those that they mention in turn. */
const findMentioned = (types: ReadonlyMap<string, string>, texts: string[]): Set<string> => {
  const found = new Set<string>()
  const visit = (text: string): void => {
    for (const [name] of text.matchAll(/\b[A-Z]\w*/g)) {
      if (!types.has(name) || found.has(name)) continue
      found.add(name)
      visit(types.get(name) ?? '')
    }
  }
  texts.forEach(visit)
  return found
}

/** The text of `console/api/types.ts`. Formatting is left to Biome. */
export const apiTypes = ({ paths, components }: ApiDocument): string => {
  const schemas = Object.entries(components.schemas)
  const isEvent = (name: string) => name.startsWith(EVENT_PREFIX)
  named = []
  named = schemas
    .filter(([name, { properties }]) => properties && !isEvent(name))
    .map(([name, schema]) => ({ name: typeName(name), members: membersOf(schema) }))
  const types = new Map(
    schemas.map(([name, schema]) => {
      if (isEvent(name)) return [typeName(name), ofEvent(schema)]
      return [typeName(name), schema.properties ? ofObject(schema, typeName(name)) : typeOf(schema)]
    }),
  )
  const operations = Object.entries(paths)
    .filter(([path]) => /^\/(api|admin)\//.test(path))
    .flatMap(([path, item]) =>
      METHODS.flatMap((method) => {
        const operation = item[method]
        return operation ? `'${method.toUpperCase()} ${path}': ${ofOperation(operation)}` : []
      }),
    )
  const mentioned = findMentioned(types, [...operations, 'Problem'])
  const events = schemas.filter(([name]) => isEvent(name))
  const eventNames = events.map(([name]) => `'${name.slice(EVENT_PREFIX.length)}'`)
  return [
    '// Written by `npm run openapi` from public/api/openapi.json. Do not edit.',
    '',
    ...events.slice(0, 1).map(([, event]) => eventBase(event)),
    ...[...types]
      .filter(([name]) => mentioned.has(name))
      .map(([name, type]) => `export type ${name} = ${type}`),
    '',
    '/** Every type of event, by kind. */',
    `export const EVENT_TYPES = [${eventNames.join()}] as const`,
    '',
    '/** What each operation takes and replies. */',
    'export interface Operations {',
    ...operations,
    '}',
    '',
  ].join('\n')
}
