/* Writes the operations of the document as methods of Python, once for each of both clients. */
import {
  type ApiDocument,
  JSON_TYPE,
  METHODS,
  type Operation,
  type Parameter,
  repliesOf,
  type Schema,
  snakeCase,
} from './document.ts'
import { typeOf } from './types.ts'

type Flavour = 'sync' | 'async'

interface Place {
  document: ApiDocument
  flavour: Flavour
  path: string
  method: string
  operation: Operation
}

interface Method {
  name: string
  summary: string
  returns: string
  /** How the client runs the call: one reply, every row, or the bytes. */
  run: 'call' | 'rows' | 'bytes'
  type: string
  query: Parameter[]
  member?: string
  accept?: string
}

const IN_REQUEST = { prefix: 't.', isRequest: true }
const IN_REPLY = { prefix: 't.' }

const parametersOf = ({ document, operation }: Place): Parameter[] =>
  (operation.parameters ?? []).map((given) => {
    const name = given.$ref?.slice(given.$ref.lastIndexOf('/') + 1)
    return (name && document.components.parameters[name]) || given
  })

const queryType = ({ schema, description = '' }: Parameter): string => {
  if (schema.enum?.length === 2 && schema.enum.includes('true')) return 'bool'
  if (/separated by commas/.test(description)) return 'str | Sequence[str]'
  return typeOf(schema, IN_REQUEST)
}

/** A body from GET, edited, can be sent back: PUT takes what GET returns too. */
const bodyType = ({ document, path, method, operation }: Place): string | null => {
  const content = operation.requestBody?.content
  if (!content) return null
  const schema = content[JSON_TYPE]?.schema
  if (!schema) return 'bytes'
  const read = method === 'put' ? document.paths[path]?.get : undefined
  const sentBack = read ? repliesOf(read).map(([, reply]) => reply) : []
  return typeOf({ anyOf: [schema, ...sentBack] }, IN_REQUEST)
}

const schemaOf = (document: ApiDocument, { $ref }: Schema): Schema =>
  ($ref && document.components.schemas[$ref.slice($ref.lastIndexOf('/') + 1)]) || {}

/** The member of a page that has its rows. */
const rowsOf = (document: ApiDocument, page: Schema): [string, Schema] => {
  const found = Object.entries(schemaOf(document, page).properties ?? {}).filter(
    ([, { type }]) => type === 'array',
  )
  const [[member, { items = {} }] = ['', {}]] = found
  if (found.length !== 1) throw new Error(`A page needs one list: ${page.$ref}`)
  return [member, items]
}

const many = (flavour: Flavour, type: string): string =>
  `${flavour === 'sync' ? 'Iterator' : 'AsyncIterator'}[${type}]`

const methodsOf = (place: Place): Method[] => {
  const { document, flavour, operation } = place
  const query = parametersOf(place).filter((one) => one.in === 'query')
  const replies = repliesOf(operation)
  const json = replies.filter(([type]) => type === JSON_TYPE).map(([, schema]) => schema)
  const files = replies.filter(([type]) => type !== JSON_TYPE).map(([type]) => type)
  const name = snakeCase(operation.operationId)
  const summary = operation.summary ?? name
  const type = json.length > 0 ? typeOf({ anyOf: json }, IN_REPLY) : 'None'
  const base = { name, summary, type, returns: type, query }
  if (files.length > 0 && json.length === 0)
    return [{ ...base, run: 'bytes', returns: many(flavour, 'bytes'), accept: files[0] ?? '*/*' }]
  const plain = { ...base, query: query.filter((one) => one.name !== 'format') }
  const download: Method = {
    ...base,
    name: `download_${name.replace(/^(list|read)_/, '')}`,
    summary: `${summary}, as a file`,
    run: 'bytes',
    returns: many(flavour, 'bytes'),
    accept: '*/*',
  }
  const downloads = files.length > 0 ? [download] : []
  const [page] = json
  if (!page || !query.some((one) => one.name === 'cursor'))
    return [{ ...plain, run: 'call' }, ...downloads]
  const [member, row] = rowsOf(document, page)
  return [
    {
      ...plain,
      summary: `${summary}: every row, page by page`,
      run: 'rows',
      member,
      returns: many(flavour, typeOf(row, IN_REPLY)),
      query: plain.query.filter((one) => one.name !== 'cursor'),
    },
    { ...plain, name: `${name}_page`, summary: `${summary}: one page`, run: 'call' },
    ...downloads,
  ]
}

const argumentName = (run: Method['run'], { name }: Parameter): string =>
  run === 'rows' && name === 'limit' ? 'page_size' : snakeCase(name)

const writeMethod = (place: Place, method: Method): string => {
  const { path, operation, flavour } = place
  const parameters = parametersOf(place)
  const has = (name: string) => parameters.some((one) => one.name === name)
  const inPath = [...path.matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name)
  const body = bodyType(place)
  const isBodyOptional = !operation.requestBody?.required
  const query = method.query.map((one) => {
    const isRequired = one.required || (method.accept === '*/*' && one.name === 'format')
    const type = queryType(one)
    return {
      key: one.name,
      name: argumentName(method.run, one),
      declared: isRequired ? `: ${type}` : `: ${type} | None = None`,
    }
  })
  const named = [
    ...query.map(({ name, declared }) => name + declared),
    ...(has('If-Match') ? ['if_match: str | None = None'] : []),
    ...(has('Idempotency-Key') ? ['idempotency_key: str | None = None'] : []),
  ]
  const signature = [
    'self',
    ...inPath.map((name) => `${snakeCase(name)}: str`),
    ...(body ? [`body: ${body}${isBodyOptional ? ' | None = None' : ''}`] : []),
    ...(named.length > 0 ? ['*', ...named] : []),
  ]
  const contentType = Object.keys(operation.requestBody?.content ?? {})[0] ?? JSON_TYPE
  const call = [
    `"${place.method.toUpperCase()}"`,
    `"${path}"`,
    ...(inPath.length > 0
      ? [`path={${inPath.map((name) => `"${name}": ${snakeCase(name)}`).join(', ')}}`]
      : []),
    ...(query.length > 0
      ? [`query={${query.map(({ key, name }) => `"${key}": ${name}`).join(', ')}}`]
      : []),
    ...(body ? ['body=body'] : []),
    ...(body && contentType !== JSON_TYPE ? [`content_type="${contentType}"`] : []),
    ...(has('If-Match') ? ['if_match=if_match'] : []),
    ...(has('Idempotency-Key') ? ['takes_key=True', 'key=idempotency_key'] : []),
    ...(operation.security?.length === 0 ? ['is_open=True'] : []),
    ...(method.accept ? [`accept="${method.accept}"`] : []),
  ]
  const member = method.member ? `, "${method.member}"` : ''
  const isAwaited = flavour === 'async' && method.run === 'call'
  return [
    `    ${isAwaited ? 'async ' : ''}def ${method.name}(`,
    ...signature.map((one) => `        ${one},`),
    `    ) -> ${method.returns}:`,
    `        """${method.summary}. \`${place.method.toUpperCase()} ${path}\`"""`,
    `        call: Call[${method.run === 'call' ? method.type : 'Any'}] = Call(`,
    ...call.map((one) => `            ${one},`),
    '        )',
    `        return ${isAwaited ? 'await ' : ''}self._${method.run}(call${member})`,
  ].join('\n')
}

/** What a browser does with its cookie, and the stream, which the clients write by hand, are left out. */
const isOffered = (path: string, { operationId, security = [{}] }: Operation): boolean =>
  /^\/(api|admin)\/|^\/healthz$/.test(path) &&
  operationId !== 'openStream' &&
  !security.some((one) => 'session' in one)

const BASES: Readonly<Record<Flavour, string>> = {
  sync: `class Operations(ABC):
    @abstractmethod
    def _call(self, call: Call[T]) -> T: ...

    @abstractmethod
    def _rows(self, call: Call[Any], member: str) -> Iterator[Any]: ...

    @abstractmethod
    def _bytes(self, call: Call[Any]) -> Iterator[bytes]: ...
`,
  async: `class AsyncOperations(ABC):
    @abstractmethod
    async def _call(self, call: Call[T]) -> T: ...

    @abstractmethod
    def _rows(self, call: Call[Any], member: str) -> AsyncIterator[Any]: ...

    @abstractmethod
    def _bytes(self, call: Call[Any]) -> AsyncIterator[bytes]: ...
`,
}

/** The text of `generated/operations.py` and `generated/async_operations.py`. */
export const pythonOperations = (
  document: ApiDocument,
  flavour: Flavour,
  header: string,
): string => {
  const methods = Object.entries(document.paths).flatMap(([path, item]) =>
    METHODS.flatMap((method) => {
      const operation = item[method]
      if (!operation || !isOffered(path, operation)) return []
      const place = { document, flavour, path, method, operation }
      return methodsOf(place).map((one) => writeMethod(place, one))
    }),
  )
  return `${header}
from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import ${flavour === 'sync' ? 'Iterator' : 'AsyncIterator'}, Sequence
from typing import Any, Literal, TypeVar

from .._call import Call
from . import types as t

T = TypeVar("T")


${BASES[flavour]}
${methods.join('\n\n')}
`
}
