import type { oas31 } from 'zod-openapi'
import { operationsOf, type Schema, type Schemas, schemasOf, targetOf } from './reference.ts'

type Node = Schema | oas31.ReferenceObject

const NULL: Schema = { type: 'null' }

/** The same schema with null as one more value. */
const nullable = (schema: Node): Node => {
  if (schema.$ref) return { anyOf: [schema, NULL] }
  const { type, anyOf, oneOf, enum: values } = schema as Schema
  const parts = anyOf ?? oneOf
  if (parts?.some((part) => (part as Schema).type === 'null')) return schema
  if (parts) return { ...schema, anyOf: [...parts, NULL] }
  const types = [type ?? []].flat()
  if (types.length === 0 || types.includes('null')) return schema
  return { ...schema, type: [...types, 'null'], ...(values && { enum: [...values, null] }) }
}

/** Lets the optional members of a body be null, at every level, as POST and PUT do. */
const allowNulls = (node: Node, schemas: Schemas, seen: Set<Node>): void => {
  const target = node.$ref ? targetOf(node as Schema, schemas) : node
  if (!target || seen.has(target)) return
  seen.add(target)
  const { properties = {}, required = [], anyOf = [], oneOf = [], items } = target as Schema
  for (const part of [...Object.values(properties), ...anyOf, ...oneOf, ...(items ? [items] : [])])
    allowNulls(part, schemas, seen)
  for (const [name, member] of Object.entries(properties))
    if (!required.includes(name)) properties[name] = nullable(member)
}

/** Adds the components that a part of the document refers to. */
const collectTargets = (part: unknown, schemas: Schemas, found: Set<Node>): void => {
  if (typeof part !== 'object' || part === null) return
  const target = targetOf(part as Schema, schemas)
  if (target && !found.has(target)) {
    found.add(target)
    collectTargets(target, schemas, found)
  }
  for (const member of Object.values(part)) collectTargets(member, schemas, found)
}

/**
 * Changes the bodies of all POST and PUT operations, except for components that replies have too:
 * no reply has a null there.
 */
export const allowNullsInBodies = (document: oas31.OpenAPIObject): void => {
  const schemas = schemasOf(document)
  const seen = new Set<Node>()
  for (const { responses } of operationsOf(document.paths)) collectTargets(responses, schemas, seen)
  for (const { post, put } of Object.values(document.paths ?? {}))
    for (const operation of [post, put]) {
      const { content = {} } = (operation?.requestBody ?? {}) as Partial<oas31.RequestBodyObject>
      for (const { schema } of Object.values(content))
        if (schema) allowNulls(schema as Node, schemas, seen)
    }
}
