import type { oas31 } from 'zod-openapi'

export type Schema = oas31.SchemaObject
export type Schemas = Record<string, Schema>

export const schemasOf = ({ components }: oas31.OpenAPIObject): Schemas =>
  (components?.schemas ?? {}) as Schemas

/** The component that a reference names; undefined for any other schema. */
export const targetOf = ({ $ref }: Schema, schemas: Schemas): Schema | undefined =>
  $ref ? schemas[$ref.slice('#/components/schemas/'.length)] : undefined

/** The operations of paths or webhooks. */
export const operationsOf = (items: oas31.PathsObject = {}): oas31.OperationObject[] =>
  Object.values(items).flatMap((item) => Object.values(item) as oas31.OperationObject[])
