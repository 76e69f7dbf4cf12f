import * as z from 'zod'

const describedAs = (schema: z.ZodType, original: z.ZodType): z.ZodType => {
  const { id: _, ...meta } = original.meta() ?? {}
  return Object.keys(meta).length > 0 ? schema.meta(meta) : schema
}

const membersOf = (shape: z.core.$ZodShape): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(shape as Record<string, z.ZodType>).map(([name, member]) => {
      const merged = mergePatchOf(member)
      return [name, member._zod.optin === undefined ? merged.optional() : merged.nullish()]
    }),
  )

const inside = (schema: z.ZodType): z.ZodType => {
  const def = (schema as z.core.$ZodType as z.core.$ZodTypes)._zod.def
  switch (def.type) {
    case 'object': {
      const object = z.strictObject(membersOf(def.shape))
      return def.catchall ? object.catchall(def.catchall) : object
    }
    case 'nullable':
      return mergePatchOf(def.innerType as z.ZodType).nullable()
    case 'optional':
    case 'default':
    case 'prefault':
    case 'nonoptional':
    case 'readonly':
    case 'catch':
      return mergePatchOf(def.innerType as z.ZodType)
    case 'pipe':
      return mergePatchOf((def.in._zod.def.type === 'transform' ? def.out : def.in) as z.ZodType)
    default:
      return schema
  }
}

/** A merge patch of what `schema` describes: what is left out stays, and null takes an optional member away. */
export const mergePatchOf = (schema: z.ZodType): z.ZodType => {
  const merged = inside(schema)
  return merged === schema ? schema : describedAs(merged, schema)
}
