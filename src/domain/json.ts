/** Plain JSON values, and the two ways of changing them that the contract names. */
export type JsonObject = { [name: string]: unknown }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** One token of a JSON Pointer, escaped. */
export const escapePointer = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed()

export const sameJson = (a: unknown, b: unknown): boolean => {
  if (a === b) return true
  if (Array.isArray(a))
    return (
      Array.isArray(b) &&
      a.length === b.length &&
      a.every((item, index) => sameJson(item, b[index]))
    )
  if (!isObject(a) || !isObject(b)) return false
  const names = Object.keys(a)
  return (
    names.length === Object.keys(b).length &&
    names.every((name) => Object.hasOwn(b, name) && sameJson(a[name], b[name]))
  )
}

/** RFC 7396, on a copy: null takes a member away. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), member))
  }
  return Object.fromEntries(result)
}
