/* The requests of the collections: every operation of the OpenAPI document but two, in an order in
 * which they can be sent one after the other. */

interface Example {
  examples?: Record<string, { value: unknown }>
}

interface Parameter {
  $ref?: string
  in: string
  name: string
  required?: boolean
  schema?: { examples?: unknown[]; default?: unknown }
}

export interface Operation {
  operationId: string
  summary: string
  tags: string[]
  security?: Record<string, string[]>[]
  parameters?: Parameter[]
  requestBody?: { content: Record<string, Example> }
  responses: Record<string, { content?: Record<string, Example> }>
}

export interface ApiDocument {
  info: { title: string; summary: string }
  tags: { name: string; description?: string }[]
  paths: Record<string, Record<string, Operation>>
  components: { parameters: Record<string, Parameter> }
}

export interface CollectionRequest {
  folder: string
  name: string
  method: string
  /** With `{{deviceId}}` and so on. */
  path: string
  query: { name: string; value: string; isSent: boolean }[]
  body: unknown
  auth: 'token' | 'operator' | 'none'
  /** A variable that keeps a member of the reply: `['deviceId', 'device?.id']`. */
  kept: [variable: string, member: string] | null
}

/** A WebSocket, and a body that is a file. */
const LEFT_OUT = ['openStream', 'importAccount']

const DELETIONS = 'Deletions'
const SESSIONS = 'Sessions'

/** Variables that whoever uses the collection sets, with their first values. */
export const SETTINGS = {
  url: 'http://localhost:8787',
  userName: 'demo',
  apiKey: '',
  adminToken: '',
  webhookUrl: 'https://example.com/perigee',
  /** Of an e-mail that invites a user. */
  link: '',
  cell: '0',
}

/** Sets the times that requests use, given the tool's own way to set a variable. */
export const setTimes = (set: string): string[] => [
  'const at = (minutes) => new Date(Date.now() + minutes * 60000).toISOString()',
  `${set}('dayAgo', at(-1440))`,
  `${set}('now', at(0))`,
  `${set}('later', at(43200))`,
  `${set}('laterDate', at(43200).slice(0, 10))`,
]

const VARIABLE_OF: Readonly<Record<string, string>> = {
  dev: 'deviceId',
  grp: 'groupId',
  usr: 'userId',
  zon: 'zoneId',
  src: 'sourceId',
}

const TIMES: Readonly<Record<string, string>> = {
  from: '{{dayAgo}}',
  time: '{{dayAgo}}',
  to: '{{now}}',
  dateTime: '{{now}}',
}

/** Operations whose reply has the id of something that they do not create at their own path. */
const KEPT_ELSEWHERE: Readonly<Record<string, string>> = {
  postAlerts: 'alertId',
  sendCommand: 'commandId',
}

/** The value of an example with variables in place of ids and times, which would not work. */
const withVariables = (value: unknown, name: string): unknown => {
  if (Array.isArray(value)) return value.map((one) => withVariables(one, name))
  if (value !== null && typeof value === 'object')
    return Object.fromEntries(
      Object.entries(value).map(([key, one]) => [key, withVariables(one, key)]),
    )
  if (typeof value !== 'string') return value
  if (name === 'link') return '{{link}}'
  const id = VARIABLE_OF[/^([a-z]{3})_/.exec(value)?.[1] ?? '']
  if (id) return `{{${id}}}`
  if (/^\d{4}-\d\d-\d\dT/.test(value)) return TIMES[name] ?? '{{later}}'
  if (/^\d{4}-\d\d-\d\d$/.test(value) && name !== 'version') return '{{laterDate}}'
  return value === SETTINGS.webhookUrl ? '{{webhookUrl}}' : value
}

/** Where the reply has the first id: `device?.id`, `messages?.[0]?.id`. */
const memberOf = (reply: unknown, wanted: string, path = ''): string | null => {
  if (reply === null || typeof reply !== 'object') return null
  for (const [key, value] of Object.entries(reply)) {
    const step = Array.isArray(reply) ? `?.[${key}]` : `${path && '?.'}${key}`
    if (key === wanted) return `${path}${step}`
    const deeper = memberOf(value, wanted, `${path}${step}`)
    if (deeper) return deeper
  }
  return null
}

const replyOf = (operation: Operation): unknown => {
  const [, reply] = Object.entries(operation.responses).find(([code]) => code[0] === '2') ?? []
  return reply?.content?.['application/json']?.examples?.default?.value
}

/** The variable of a parameter directly below the path, if this is the operation to take it from. */
const keptBy = (
  paths: ApiDocument['paths'],
  path: string,
  method: string,
  operation: Operation,
): CollectionRequest['kept'] => {
  if (operation.operationId === 'getToken') return ['token', 'token']
  const below = Object.keys(paths).flatMap((other) =>
    other.startsWith(`${path}/{`)
      ? (/^\{(\w+)\}/.exec(other.slice(path.length + 1))?.[1] ?? [])
      : [],
  )[0]
  const taken = method === 'post' || (method === 'get' && !paths[path]?.post) ? below : undefined
  const variable = KEPT_ELSEWHERE[operation.operationId] ?? taken
  if (!variable) return null
  const member = memberOf(replyOf(operation), variable === 'identifier' ? variable : 'id')
  return member ? [variable, member] : null
}

const queryOf = ({ components }: ApiDocument, { parameters = [] }: Operation) =>
  parameters.flatMap((given) => {
    const known = components.parameters[given.$ref?.split('/').at(-1) ?? ''] ?? given
    if (known.in !== 'query') return []
    const example = known.schema?.examples?.[0] ?? known.schema?.default ?? ''
    const value = String(withVariables(example, known.name))
    return [{ name: known.name, value, isSent: known.required === true }]
  })

const bodyOf = ({ operationId, requestBody }: Operation): unknown => {
  if (operationId === 'getToken') return { userName: '{{userName}}', apiKey: '{{apiKey}}' }
  const examples = requestBody?.content['application/json']?.examples ?? {}
  return withVariables(Object.values(examples)[0]?.value, '')
}

const authOf = ({ security }: Operation): CollectionRequest['auth'] => {
  const names = (security ?? [{ token: [] }]).flatMap((one) => Object.keys(one))
  if (names.includes('token')) return 'token'
  return names.includes('operator') ? 'operator' : 'none'
}

/** What creates comes before what reads; all deletions come last, the youngest thing first. */
const rankOf = (method: string, path: string): number =>
  method === 'post' && !path.includes('{') ? 0 : 1

export const collectionRequests = (document: ApiDocument): CollectionRequest[] => {
  const all = Object.entries(document.paths).flatMap(([path, operations]) =>
    Object.entries(operations).map(([method, operation]) => ({ path, method, operation })),
  )
  const wanted = all.filter(({ operation }) => !LEFT_OUT.includes(operation.operationId))
  // A user is invited after users were created.
  const tags = document.tags.map(({ name }) => name).filter((name) => name !== SESSIONS)
  const inFolders = [...tags, SESSIONS].flatMap((name) =>
    wanted
      .filter(({ method, operation }) => operation.tags[0] === name && method !== 'delete')
      .sort((a, b) => rankOf(a.method, a.path) - rankOf(b.method, b.path)),
  )
  const deletions = wanted
    .filter(({ method, operation }) => method === 'delete' && authOf(operation) === 'token')
    .reverse()
  const operators = wanted.filter(
    ({ method, operation }) => method === 'delete' && authOf(operation) === 'operator',
  )
  const isOperators = ({ operation }: { operation: Operation }) => authOf(operation) === 'operator'
  const ordered = [
    ...inFolders.filter((one) => !isOperators(one)),
    ...deletions,
    ...inFolders.filter(isOperators),
    ...operators,
  ]
  return ordered.map(({ path, method, operation }) => {
    const auth = authOf(operation)
    const [tag = ''] = operation.tags
    return {
      folder: method === 'delete' && auth === 'token' ? DELETIONS : tag,
      name: operation.summary,
      method: method.toUpperCase(),
      path: path.replaceAll(/\{(\w+)\}/g, '{{$1}}'),
      query: queryOf(document, operation),
      body: bodyOf(operation),
      auth,
      kept: keptBy(document.paths, path, method, operation),
    }
  })
}

/** The folders in sequence, with their requests. */
export const inFolders = (requests: CollectionRequest[]): [string, CollectionRequest[]][] => [
  ...Map.groupBy(requests, ({ folder }) => folder),
]
