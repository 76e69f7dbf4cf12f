import type { oas31 } from 'zod-openapi'
import { MEMBER_TEXTS } from './schemas/memberTexts.ts'
import {
  operationsOf,
  type Schema,
  type Schemas,
  schemasOf,
  targetOf,
} from './schemas/reference.ts'

/** The bodies of a resource have its members. */
const resourceOf = (component: string): string => component.replace(/Body$/, '')
const ownersOf = (component: string): string[] => {
  const resource = resourceOf(component)
  const bare = resource.replace(/^(Patch|Wrapped)/, '').replace(/^Operated/, '')
  return [component, resource, bare]
}

/** For ids and the lists of pages the name is enough. */
const textByName = (owners: readonly string[], name: string): string | undefined => {
  const owner = /^([a-z]+)Id$/.exec(name)?.[1]
  if (owner) return `The id of the ${owner}.`
  return owners[0]?.endsWith('Page') ? `The ${name}, in the order of the list.` : undefined
}

const textFor = (owners: readonly string[], name: string): string | undefined =>
  [...owners.map((owner) => `${owner}.${name}`), `*.${name}`]
    .map((key) => MEMBER_TEXTS[key])
    .find((text) => text !== undefined) ?? textByName(owners, name)

const describeMembers = (node: unknown, owners: readonly string[], schemas: Schemas): void => {
  if (typeof node !== 'object' || node === null) return
  const { properties = {}, ...others } = node as Schema
  for (const [name, member] of Object.entries(properties) as [string, Schema][]) {
    const isDescribed = member.description ?? targetOf(member, schemas)?.description
    const text = isDescribed ? undefined : textFor(owners, name)
    if (text) member.description = text
    describeMembers(
      member,
      owners.map((owner) => `${owner}.${name}`),
      schemas,
    )
  }
  const { examples: _, default: __, not: ___, ...parts } = others
  for (const part of Object.values(parts)) describeMembers(part, owners, schemas)
}

/** Describes the members and parameters whose contract has no description. */
export const addDescriptions = (document: oas31.OpenAPIObject): void => {
  const { paths, components } = document
  const schemas = schemasOf(document)
  for (const [name, schema] of Object.entries(schemas)) {
    const text = MEMBER_TEXTS[name]
    if (text && !schema.description) schema.description = text
  }
  for (const [name, schema] of Object.entries(schemas))
    describeMembers(schema, ownersOf(name), schemas)
  const own = operationsOf(paths).flatMap(({ parameters = [] }) => parameters)
  for (const parameter of [...own, ...Object.values(components?.parameters ?? {})]) {
    if ('$ref' in parameter || parameter.description) continue
    const text = MEMBER_TEXTS[`query.${parameter.name}`]
    if (text) parameter.description = text
  }
}
