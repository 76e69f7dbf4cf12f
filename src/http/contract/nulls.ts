import type * as z from 'zod'
import { isObject, type JsonObject } from '../../domain/text/json.ts'

/* In POST and PUT, null for an optional member means that it is left out: typed clients write it. */

/** The schema of the value as it is sent: without defaults, and before transforms. */
const sentSchema = (schema: z.core.$ZodType): z.core.$ZodType => {
  const { def } = (schema as z.core.$ZodTypes)._zod
  if ('innerType' in def) return sentSchema(def.innerType)
  if (def.type !== 'pipe') return schema
  return sentSchema(def.in._zod.def.type === 'transform' ? def.out : def.in)
}

const dropInObject = (shape: z.core.$ZodShape, value: JsonObject): JsonObject =>
  Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) => {
      const schema = Object.hasOwn(shape, name) ? shape[name] : undefined
      if (!schema) return [[name, member]]
      if (member === null && schema._zod.optin !== undefined) return []
      return [[name, dropNulls(schema, member)]]
    }),
  )

/** The option of a union that the value names by its discriminator. */
const optionOf = (
  { options, discriminator }: z.core.$ZodDiscriminatedUnionDef,
  value: JsonObject,
): z.core.$ZodType | undefined =>
  options.find(({ _zod }) =>
    _zod.propValues?.[discriminator]?.has(value[discriminator] as z.core.util.Primitive),
  )

/** A copy without the members that are null and may be left out, at every level of the schema. */
export const dropNulls = (schema: z.core.$ZodType, value: unknown): unknown => {
  const { def } = (sentSchema(schema) as z.core.$ZodTypes)._zod
  if (def.type === 'union' && 'discriminator' in def && isObject(value)) {
    const option = optionOf(def as z.core.$ZodDiscriminatedUnionDef, value)
    return option ? dropNulls(option, value) : value
  }
  if (def.type === 'object' && isObject(value)) return dropInObject(def.shape, value)
  if (def.type !== 'array' || !Array.isArray(value)) return value
  const item = sentSchema(def.element)
  return item._zod.def.type === 'object' ? value.map((one) => dropNulls(item, one)) : value
}
