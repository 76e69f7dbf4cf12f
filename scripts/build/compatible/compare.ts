import { isDeepStrictEqual } from 'node:util'
import type { ApiDocument, OperationObject, Parameter, Reply } from './document.ts'
import { type Comparison, compareSchemas } from './schemas.ts'

type Content = NonNullable<Reply['content']>

const parametersOf = ({ parameters = [] }: OperationObject, document: ApiDocument): Parameter[] =>
  parameters
    .map((parameter) =>
      parameter.$ref === undefined
        ? parameter
        : document.components.parameters[parameter.$ref.split('/').at(-1) ?? ''],
    )
    .filter((parameter) => parameter !== undefined)

const compareParameters = (
  before: OperationObject,
  after: OperationObject,
  of: Comparison,
): string[] => {
  const olds = parametersOf(before, of.before)
  const news = parametersOf(after, of.after)
  const find = (all: Parameter[], one: Parameter) =>
    all.find((other) => other.in === one.in && other.name === one.name)
  // Those of the path are compared with the path.
  const kept = olds.filter((parameter) => parameter.in !== 'path')
  return [
    ...kept.flatMap((old) => {
      const now = find(news, old)
      const at = `the ${old.in} parameter ${old.name}`
      return now ? compareSchemas(old.schema ?? {}, now.schema ?? {}, of, at) : [`${at} is gone`]
    }),
    ...news
      .filter((now) => now.in !== 'path' && now.required && !find(olds, now)?.required)
      .map((now) => `the ${now.in} parameter ${now.name} is now required`),
  ]
}

const compareContent = (before: Content, after: Content, of: Comparison, at: string): string[] =>
  Object.entries(before).flatMap(([type, { schema = {} }]) => {
    const now = after[type]
    return now ? compareSchemas(schema, now.schema ?? {}, of, at) : [`${at} is no longer ${type}`]
  })

const compareBodies = (
  { requestBody: before }: OperationObject,
  { requestBody: after }: OperationObject,
  of: Comparison,
): string[] => {
  if (!before) return after?.required ? ['a body is now required'] : []
  if (!after) return ['it no longer takes a body']
  return [
    ...(after.required && !before.required ? ['the body is now required'] : []),
    ...compareContent(before.content ?? {}, after.content ?? {}, of, 'the body'),
  ]
}

const compareReplies = (
  { responses: before = {} }: OperationObject,
  { responses: after = {} }: OperationObject,
  of: Comparison,
): string[] => {
  const isSuccess = (status: string) => /^2/.test(status)
  const further = Object.keys(after).filter((status) => isSuccess(status) && !before[status])
  return [
    ...further.map((status) => `it may now reply ${status}`),
    ...Object.entries(before).flatMap(([status, old]) => {
      const now = after[status]
      if (!now) return [`it no longer replies ${status}`]
      const gone = Object.keys(old.headers ?? {}).filter((name) => !now.headers?.[name])
      return [
        ...gone.map((name) => `the header ${name} of ${status} is gone`),
        ...compareContent(old.content ?? {}, now.content ?? {}, of, `the reply ${status}`),
      ]
    }),
  ]
}

/** Who could call an operation still can: one of the requirements is enough. */
const compareSecurity = (before: OperationObject, after: OperationObject): string[] => {
  const [olds = [], news = []] = [before.security, after.security]
  if (news.length === 0) return []
  if (olds.length === 0) return ['it now needs a token']
  const gone = olds.filter((old) => !news.some((now) => isDeepStrictEqual(old, now)))
  return gone.map((old) => `${JSON.stringify(old)} is no longer enough`)
}

/** Names of path parameters are no part of the interface. */
const operationsIn = (paths: ApiDocument['paths'] = {}): Map<string, OperationObject> =>
  new Map(
    Object.entries(paths).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]): [string, OperationObject] => [
        `${method.toUpperCase()} ${path.replaceAll(/\{\w+\}/g, '{}')}`,
        operation,
      ]),
    ),
  )

/** What would break a client of `before` that keeps the rules of docs/versioning.md. */
export const findIncompatibilities = (before: ApiDocument, after: ApiDocument): string[] => {
  const known = new Map<string, string[]>()
  const request: Comparison = { before, after, direction: 'request', known }
  const reply: Comparison = { before, after, direction: 'reply', known }
  const compare = (
    olds: Map<string, OperationObject>,
    news: Map<string, OperationObject>,
    differences: (old: OperationObject, now: OperationObject) => string[],
  ) =>
    [...olds].flatMap(([name, old]) => {
      const now = news.get(name)
      const found = now ? differences(old, now) : ['is gone']
      return found.map((finding) => `${name}: ${finding}`)
    })
  return [
    ...compare(operationsIn(before.paths), operationsIn(after.paths), (old, now) => [
      ...compareSecurity(old, now),
      ...compareParameters(old, now, request),
      ...compareBodies(old, now, request),
      ...compareReplies(old, now, reply),
    ]),
    // A receiver of webhooks reads what we send.
    ...compare(operationsIn(before.webhooks), operationsIn(after.webhooks), (old, now) =>
      compareBodies(old, now, reply),
    ),
  ]
}
