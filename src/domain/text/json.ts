export type JsonObject = { [name: string]: unknown }

export const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

export const countMembers = (object: object): number => {
  let count = 0
  for (const _ in object) count++
  return count
}

/** Escapes one token of a JSON Pointer. */
export const escapePointer = (name: string): string =>
  name.replaceAll('~', '~0').replaceAll('/', '~1').toWellFormed()

/** Whether two values are the same JSON; the order of members does not matter. */
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

type WithoutNulls<T> = { [K in keyof T]: Exclude<T[K], null> }

/** A copy without the members that are null. */
export const withoutNulls = <T extends object>(object: T): WithoutNulls<T> =>
  Object.fromEntries(
    Object.entries(object).filter(([, member]) => member !== null),
  ) as WithoutNulls<T>

/** Applies a JSON Merge Patch (RFC 7396) to a copy: null removes a member. */
export const mergePatch = (target: unknown, patch: unknown): unknown => {
  if (!isObject(patch)) return patch
  const result = new Map(isObject(target) ? Object.entries(target) : [])
  for (const [name, member] of Object.entries(patch)) {
    if (member === null) result.delete(name)
    else result.set(name, mergePatch(result.get(name), member))
  }
  return Object.fromEntries(result)
}
