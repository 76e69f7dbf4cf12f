import * as z from 'zod'

const copyMeta = (schema: z.ZodType, original: z.ZodType): z.ZodType => {
  const { id: _, ...meta } = original.meta() ?? {}
  return Object.keys(meta).length > 0 ? schema.meta(meta) : schema
}

const membersOf = (shape: z.core.$ZodShape): Record<string, z.ZodType> =>
  Object.fromEntries(
    Object.entries(shape as Record<string, z.ZodType>).map(([name, member]) => {
      const merged = mergePatchOf(member)
      const isRequired = member._zod.optin === undefined
      return [name, isRequired ? merged.optional() : copyMeta(merged.nullish(), merged)]
    }),
  )

const mergeInside = (schema: z.ZodType): z.ZodType => {
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

/** The schema of a merge patch: every member may be left out, null removes an optional one. */
export const mergePatchOf = (schema: z.ZodType): z.ZodType => {
  const merged = mergeInside(schema)
  return merged === schema ? schema : copyMeta(merged, schema)
}
