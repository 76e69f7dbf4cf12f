/* Writes the schemas of the document as Python types: objects as `TypedDict`s, the rest as aliases. */
import {
  type ApiDocument,
  JSON_TYPE,
  METHODS,
  RESERVED,
  repliesOf,
  type Schema,
} from './document.ts'

const LINE = 100

export const typeName = (name: string): string =>
  name.replaceAll(/(?:^|\.)([a-zA-Z])/g, (_, letter: string) => letter.toUpperCase())

const refName = (ref: string): string => ref.slice(ref.lastIndexOf('/') + 1)

const literal = (value: unknown): string => {
  if (value === null) return 'None'
  if (typeof value === 'boolean') return value ? 'True' : 'False'
  return JSON.stringify(value)
}

const SCALARS: Readonly<Record<string, string>> = {
  string: 'str',
  number: 'float',
  integer: 'int',
  boolean: 'bool',
  null: 'None',
}

export interface TypeOptions {
  /** Put before the name of a schema, `types.` outside of its own module. */
  prefix?: string
  /** Whether times may be `datetime`s, which only requests take. */
  isRequest?: boolean
}

const ofNamedType = (schema: Schema, type: string | undefined, options: TypeOptions): string => {
  if (schema.properties)
    throw new Error(`An object needs a name: ${Object.keys(schema.properties).join()}`)
  if (type === 'string' && options.isRequest && schema.format === 'date-time')
    return `${options.prefix ?? ''}Time`
  if (type === 'string' && options.isRequest && schema.format === 'date')
    return `${options.prefix ?? ''}Date`
  if (type === 'array') return `list[${schema.items ? typeOf(schema.items, options) : 'Any'}]`
  const { additionalProperties: rest } = schema
  if (type === 'object')
    return `dict[str, ${typeof rest === 'object' ? typeOf(rest, options) : 'Any'}]`
  return SCALARS[type ?? ''] ?? 'Any'
}

const choicesOf = (schema: Schema, options: TypeOptions): string[] => {
  if (schema.$ref) return [(options.prefix ?? '') + typeName(refName(schema.$ref))]
  if ('const' in schema)
    return [schema.const === null ? 'None' : `Literal[${literal(schema.const)}]`]
  const isNullable = Array.isArray(schema.type) && schema.type.includes('null')
  if (schema.enum) {
    const values = schema.enum.filter((value) => value !== null).map(literal)
    const none = isNullable || schema.enum.includes(null) ? ['None'] : []
    return [`Literal[${values.join(', ')}]`, ...none]
  }
  const choices = schema.anyOf ?? schema.oneOf
  if (choices) return choices.flatMap((choice) => choicesOf(choice, options))
  return [schema.type].flat().map((type) => ofNamedType(schema, type, options))
}

export const typeOf = (schema: Schema, options: TypeOptions): string => {
  const unique = [...new Set(choicesOf(schema, options))]
  return unique.includes('Any') ? 'Any' : unique.join(' | ')
}

/** The names of the schemas that these mention, directly or through others. */
const reachable = (document: ApiDocument, schemas: Schema[]): Set<string> => {
  const found = new Set<string>()
  const visit = (schema: Schema | boolean | undefined): void => {
    if (typeof schema !== 'object') return
    const name = schema.$ref && refName(schema.$ref)
    if (name && !found.has(name)) {
      found.add(name)
      visit(document.components.schemas[name])
    }
    const { properties = {}, items, additionalProperties, allOf, anyOf, oneOf } = schema
    const within = [...Object.values(properties), allOf, anyOf, oneOf].flat()
    for (const one of [...within, items, additionalProperties]) visit(one)
  }
  schemas.forEach(visit)
  return found
}

/** The schemas that only requests have. */
const requestSchemas = (document: ApiDocument): Set<string> => {
  const operations = Object.values(document.paths).flatMap((item) =>
    METHODS.flatMap((method) => item[method] ?? []),
  )
  const bodies = operations.flatMap(
    ({ requestBody }) => requestBody?.content?.[JSON_TYPE]?.schema ?? [],
  )
  const replies = operations.flatMap((one) => repliesOf(one).map(([, schema]) => schema))
  const events = document.components.schemas.Event ?? {}
  const inReplies = reachable(document, [...replies, events])
  return new Set([...reachable(document, bodies)].filter((name) => !inReplies.has(name)))
}

const wrapped = (start: string, choices: string): string => {
  const line = `${start} = "${choices}"`
  if (line.length <= LINE && !choices.includes('"')) return line
  const quoted = choices.split(' | ').map((choice) => `    ${choice.replaceAll('"', "'")}`)
  return `${start} = """(\n${quoted.join('\n    | ')}\n)"""`
}

const ofLiterals = (name: string, values: string[]): string =>
  [`${name}: TypeAlias = Literal[`, ...values.map((value) => `    ${value},`), ']'].join('\n')

const ofSchema = (name: string, schema: Schema, options: TypeOptions): string => {
  if (schema.allOf)
    return `class ${name}(${schema.allOf.map((one) => typeOf(one, options)).join(', ')}):\n    pass`
  if (schema.enum) return ofLiterals(name, schema.enum.map(literal))
  if (!schema.properties) return wrapped(`${name}: TypeAlias`, typeOf(schema, options))
  const members = Object.entries(schema.properties)
    .filter(([, { readOnly }]) => !readOnly)
    .map(([key, member]): [string, string] => {
      const type = typeOf(member, options)
      return [key, schema.required?.includes(key) ? type : `NotRequired[${type}]`]
    })
  const isPlain = members.every(([key]) => /^[A-Za-z_]\w*$/.test(key) && !RESERVED.has(key))
  if (isPlain)
    return [
      `class ${name}(TypedDict):`,
      ...(members.length > 0 ? members.map(([key, type]) => `    ${key}: ${type}`) : ['    pass']),
    ].join('\n')
  const rows = members.map(([key, type]) => {
    const quoted = type.includes('"') ? type : `"${type}"`
    return `        ${JSON.stringify(key)}: ${quoted},`
  })
  return [`${name} = TypedDict(`, `    "${name}",`, '    {', ...rows, '    },', ')'].join('\n')
}

/** The text of `generated/types.py`. */
export const pythonTypes = (document: ApiDocument, header: string): string => {
  const requests = requestSchemas(document)
  const all = Object.entries(document.components.schemas).map(([name, schema]) => ({
    isObject: Boolean(schema.properties),
    isBase: !schema.allOf,
    text: ofSchema(typeName(name), schema, { isRequest: requests.has(name) }),
  }))
  const objects = all.filter(({ isObject }) => isObject)
  const combined = all.filter(({ isBase }) => !isBase)
  const aliases = all.filter(({ isObject, isBase }) => !isObject && isBase)
  const eventTypes = Object.keys(document.components.schemas)
    .filter((name) => name.startsWith('Event.'))
    .map((name) => JSON.stringify(name.slice('Event.'.length)))
  return `${header}
from __future__ import annotations

from datetime import date, datetime
from typing import Any, Literal, Union

from typing_extensions import NotRequired, TypeAlias, TypedDict

# A \`datetime\` needs a time zone.
Time: TypeAlias = Union[str, datetime]
Date: TypeAlias = Union[str, date]


${[...objects, ...combined].map(({ text }) => text).join('\n\n\n')}


${aliases.map(({ text }) => text).join('\n\n')}

${ofLiterals('EventType', eventTypes)}
`
}
