import { isDeepStrictEqual } from 'node:util'
import type { ApiDocument, Schema } from './document.ts'

/* Finds what a schema no longer takes (of requests), or gives that it did not give (of replies). */

export interface Comparison {
  before: ApiDocument
  after: ApiDocument
  direction: 'request' | 'reply'
  /** The findings of pairs of named schemas, which many others refer to. */
  known: Map<string, string[]>
}

const REFERENCE = /^#\/components\/schemas\/(.+)$/
const nameOf = ({ $ref = '' }: Schema): string => REFERENCE.exec($ref)?.[1] ?? ''

/** One schema in place of a reference and of `allOf`. */
const flatten = (schema: Schema, document: ApiDocument): Schema => {
  const { $ref, allOf = [], ...own } = schema
  const target = $ref === undefined ? undefined : document.components.schemas[nameOf(schema)]
  if ($ref !== undefined && !target) throw new Error(`The document has no ${$ref}`)
  const parts = [...(target ? [target] : []), ...allOf].map((part) => flatten(part, document))
  const all = [...parts, own]
  const members = all.some(({ properties }) => properties) && {
    properties: Object.assign({}, ...all.map(({ properties }) => properties)),
    required: all.flatMap(({ required = [] }) => required),
  }
  return Object.assign({}, ...all, members)
}

/** The schemas of which a value has to match one, each with one type. */
const optionsOf = (schema: Schema, document: ApiDocument): Schema[] => {
  const { anyOf, oneOf, ...own } = flatten(schema, document)
  const options = anyOf ?? oneOf
  if (options) return options.flatMap((option) => optionsOf({ ...own, allOf: [option] }, document))
  if (Array.isArray(own.type)) return own.type.map((type) => ({ ...own, type }))
  return [own]
}

const valuesOf = (schema: Schema): unknown[] | undefined =>
  schema.const === undefined ? schema.enum : [schema.const]

const typeOf = (schema: Schema): string => {
  if (typeof schema.type === 'string') return schema.type
  const [value] = valuesOf(schema) ?? []
  if (value === null) return 'null'
  return value === undefined ? 'any' : typeof value
}

const includesType = (wide: string, narrow: string): boolean =>
  wide === 'any' || wide === narrow || (wide === 'number' && narrow === 'integer')

/** Members that tell the options of a union apart, with their values. */
const tagsOf = ({ properties = {} }: Schema): [string, unknown][] =>
  Object.entries(properties).flatMap(([name, { const: value }]) =>
    typeof value === 'string' ? [[name, value]] : [],
  )

const areTagsEqual = (one: Schema, other: Schema): boolean => {
  const theirs = new Map(tagsOf(other))
  return tagsOf(one).every(([name, value]) => !theirs.has(name) || theirs.get(name) === value)
}

/** Keywords that bound a value; the sign says in which direction it becomes narrower. */
const BOUNDS: Record<string, 1 | -1> = {
  minimum: 1,
  exclusiveMinimum: 1,
  minLength: 1,
  minItems: 1,
  minProperties: 1,
  maximum: -1,
  exclusiveMaximum: -1,
  maxLength: -1,
  maxItems: -1,
  maxProperties: -1,
}
const CONDITIONS = ['pattern', 'not', 'dependentRequired', 'propertyNames', 'multipleOf']

const narrowedBounds = (before: Schema, after: Schema, at: string): string[] => {
  const bounds = Object.entries(BOUNDS).filter(([name, sign]) => {
    const [old = -sign * Infinity, now] = [before[name], after[name]] as (number | undefined)[]
    return now !== undefined && (now - old) * sign > 0
  })
  const conditions = CONDITIONS.filter(
    (name) => after[name] !== undefined && !isDeepStrictEqual(before[name], after[name]),
  )
  return [...bounds.map(([name]) => name), ...conditions].map(
    (name) => `${at} has another \`${name}\`, which refuses more`,
  )
}

const comparedValues = (before: Schema, after: Schema, of: Comparison, at: string): string[] => {
  const [old, now] = [valuesOf(before), valuesOf(after)]
  if (of.direction === 'reply')
    return old && now && !now.some((value) => old.includes(value))
      ? [`${at} has other values than before`]
      : []
  if (!now) return []
  if (!old) return [`${at} no longer takes any ${typeOf(before)}`]
  return old
    .filter((value) => !now.includes(value))
    .map((value) => `${at} no longer takes ${JSON.stringify(value)}`)
}

const requestMembers = (before: Schema, after: Schema, at: string): string[] => {
  const isClosed = after.additionalProperties === false
  const gone = Object.keys(before.properties ?? {}).filter(
    (name) => isClosed && !after.properties?.[name],
  )
  const required = (after.required ?? []).filter((name) => !before.required?.includes(name))
  const wasOpen = before.additionalProperties !== false && (before.type ?? 'object') === 'object'
  return [
    ...gone.map((name) => `${at}.${name} is no longer taken`),
    ...required.map((name) => `${at}.${name} is now required`),
    ...(isClosed && wasOpen ? [`${at} no longer takes members of any name`] : []),
  ]
}

const replyMembers = (before: Schema, after: Schema, at: string): string[] => {
  const gone = Object.keys(before.properties ?? {}).filter((name) => !after.properties?.[name])
  const optional = (before.required ?? []).filter(
    (name) => after.properties?.[name] && !after.required?.includes(name),
  )
  return [
    ...gone.map((name) => `${at}.${name} is gone`),
    ...optional.map((name) => `${at}.${name} may now be missing`),
  ]
}

const innerSchemas = (before: Schema, after: Schema, at: string): [Schema, Schema, string][] => {
  const members = Object.entries(before.properties ?? {}).flatMap(
    ([name, member]): [Schema, Schema, string][] => {
      const now = after.properties?.[name]
      return now ? [[member, now, `${at}.${name}`]] : []
    },
  )
  const [old, now] = [before.additionalProperties, after.additionalProperties]
  if (typeof old === 'object' && typeof now === 'object') members.push([old, now, `${at}.*`])
  if (before.items && after.items) members.push([before.items, after.items, `${at}[]`])
  return members
}

const changesFormat = (before: Schema, after: Schema, { direction }: Comparison): boolean =>
  before.format !== after.format && !!(direction === 'request' ? after : before).format

/** Whoever leaves the member out would get something else. */
const changesDefault = (before: Schema, after: Schema, { direction }: Comparison): boolean =>
  direction === 'request' &&
  before.default !== undefined &&
  !isDeepStrictEqual(before.default, after.default)

const compareOptions = (before: Schema, after: Schema, of: Comparison, at: string): string[] => [
  ...comparedValues(before, after, of, at),
  ...(of.direction === 'request' ? narrowedBounds(before, after, at) : []),
  ...(changesFormat(before, after, of) ? [`${at} has another \`format\``] : []),
  ...(changesDefault(before, after, of) ? [`${at} has another \`default\``] : []),
  ...(typeOf(before) === 'object'
    ? (of.direction === 'request' ? requestMembers : replyMembers)(before, after, at)
    : []),
  ...innerSchemas(before, after, at).flatMap(([old, now, where]) =>
    compareSchemas(old, now, of, where),
  ),
]

const describeOption = (option: Schema): string => {
  const tags = tagsOf(option).map(([name, value]) => ` with \`${name}: ${JSON.stringify(value)}\``)
  return `${typeOf(option)}${tags.join()}`
}

/** A further kind in a union of tagged objects is like a further value of an enumeration. */
const isFurtherKind = (option: Schema, options: readonly Schema[]): boolean => {
  const names = tagsOf(option).map(([name]) => name)
  const tagged = options.filter((other) => tagsOf(other).some(([name]) => names.includes(name)))
  return tagged.length > 1
}

const compareUnions = (before: Schema, after: Schema, of: Comparison, at: string): string[] => {
  const olds = optionsOf(before, of.before)
  const news = optionsOf(after, of.after)
  const isRequest = of.direction === 'request'
  const [needed, offered] = isRequest ? [olds, news] : [news, olds]
  return needed.flatMap((option) => {
    const candidates = offered.filter(
      (other) => includesType(typeOf(other), typeOf(option)) && areTagsEqual(option, other),
    )
    if (candidates.length === 0 && !isRequest && isFurtherKind(option, olds)) return []
    if (candidates.length === 0)
      return [`${at} ${isRequest ? 'no longer takes' : 'may now be'} ${describeOption(option)}`]
    const findings = candidates.map((other) =>
      isRequest ? compareOptions(option, other, of, at) : compareOptions(other, option, of, at),
    )
    return findings.reduce((best, found) => (found.length < best.length ? found : best))
  })
}

/** What is incompatible between two schemas; `at` says where they are. */
export const compareSchemas = (
  before: Schema,
  after: Schema,
  of: Comparison,
  at: string,
): string[] => {
  const names = [nameOf(before), nameOf(after)]
  if (names.includes('')) return compareUnions(before, after, of, at)
  const pair = `${of.direction} ${names}`
  const known = of.known.get(pair)
  if (known) return known
  // A schema that contains itself finds this.
  of.known.set(pair, [])
  const found = compareUnions(before, after, of, names[0] ?? at)
  of.known.set(pair, found)
  return found
}
