import { expect, test } from 'vitest'
import type { oas31 } from 'zod-openapi'
import { app } from '../../../src/app.ts'
import { openapiDocument } from '../../../src/openapi/document.ts'
import { resolved } from '../../support/openapi.ts'

const document = openapiDocument(app, { version: '1.0.0' })
const TAGS = ['Devices', 'Groups', 'Users', 'Keys', 'Messages']

type Schema = oas31.SchemaObject & { $ref?: string }

/** The members in a schema, and in the schemas of its members, that have no description. */
const undescribedIn = (given: Schema, path: string): string[] => {
  const schema = resolved(document, given) as Schema
  const parts = [...(schema.anyOf ?? []), ...(schema.oneOf ?? []), ...(schema.allOf ?? [])]
  const members = Object.entries((schema.properties ?? {}) as Record<string, Schema>)
  return [
    ...parts.flatMap((part) => undescribedIn(part as Schema, path)),
    ...(schema.items ? undescribedIn(schema.items as Schema, `${path}[]`) : []),
    ...members.flatMap(([name, member]) => {
      const { description } = resolved(document, member) as Schema
      const isDescribed = (member.description ?? description ?? '') !== ''
      // Locations have a page of their own in the reference.
      const inner = /ocation/.test(name) ? [] : undescribedIn(member, `${path}.${name}`)
      return [...(isDescribed ? [] : [`${path}.${name}`]), ...inner]
    }),
  ]
}

const operations = Object.entries(document.paths ?? {}).flatMap(([path, item]) =>
  Object.entries(item as Record<string, oas31.OperationObject>)
    .filter(([, operation]) => TAGS.includes(operation.tags?.[0] ?? ''))
    .map(([method, operation]) => ({ name: `${method.toUpperCase()} ${path}`, operation })),
)

test.each(operations)('$name describes every member and parameter', ({ operation }) => {
  const successes = Object.entries(operation.responses ?? {}).filter(([status]) => status < '300')
  const bodies = [
    ...(operation.requestBody ? [['request', operation.requestBody] as const] : []),
    ...successes,
  ]
  const found = bodies.flatMap(([where, part]) =>
    Object.values((resolved(document, part) as oas31.ResponseObject).content ?? {}).flatMap(
      ({ schema }) => undescribedIn(schema as Schema, where),
    ),
  )
  const parameters = (operation.parameters ?? [])
    .map((parameter) => resolved(document, parameter) as oas31.ParameterObject)
    .filter(({ description }) => !description)
    .map(({ name }) => name)
  expect([...new Set([...found, ...parameters])]).toEqual([])
})
