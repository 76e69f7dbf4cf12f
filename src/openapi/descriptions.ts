import type { oas31 } from 'zod-openapi'
import { MEMBER_TEXTS } from './schemas/memberTexts.ts'

type Schema = oas31.SchemaObject

/** The bodies of a resource have its members. */
const resourceOf = (component: string): string => component.replace(/Body$/, '')
const ownersOf = (component: string): string[] => {
  const resource = resourceOf(component)
  const bare = resource.replace(/^(Patch|Wrapped)/, '').replace(/^Operated/, '')
  return [component, resource, bare]
}

const textFor = (owners: readonly string[], name: string): string | undefined =>
  [...owners.map((owner) => `${owner}.${name}`), `*.${name}`]
    .map((key) => MEMBER_TEXTS[key])
    .find((text) => text !== undefined)

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
  const { examples: _, default: __, ...parts } = others
  for (const part of Object.values(parts)) describeMembers(part, owners, schemas)
}

type Schemas = Record<string, Schema>
const targetOf = ({ $ref }: Schema, schemas: Schemas): Schema | undefined =>
  $ref ? schemas[$ref.slice('#/components/schemas/'.length)] : undefined

const parametersOf = ({ paths = {}, components = {} }: oas31.OpenAPIObject) => [
  ...Object.values(paths).flatMap((item) =>
    (Object.values(item) as oas31.OperationObject[]).flatMap(({ parameters = [] }) => parameters),
  ),
  ...Object.values(components.parameters ?? {}),
]

/** Describes the members and parameters whose contract has no description. */
export const addDescriptions = (document: oas31.OpenAPIObject): void => {
  const schemas = (document.components?.schemas ?? {}) as Schemas
  for (const [name, schema] of Object.entries(schemas)) {
    const text = MEMBER_TEXTS[name]
    if (text && !schema.description) schema.description = text
  }
  for (const [name, schema] of Object.entries(schemas))
    describeMembers(schema, ownersOf(name), schemas)
  for (const parameter of parametersOf(document)) {
    if ('$ref' in parameter || parameter.description) continue
    const text = MEMBER_TEXTS[`query.${parameter.name}`]
    if (text) parameter.description = text
  }
}
