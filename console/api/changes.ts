import type { JsonPatch } from './types.ts'

/** The members that differ, as a merge patch: what others changed meanwhile stays as it is. */
export const changesOf = <T extends object>(before: T, after: T): Partial<T> =>
  Object.fromEntries(
    Object.entries(after).filter(
      ([name, value]) => JSON.stringify(value) !== JSON.stringify(before[name as keyof T]),
    ),
  ) as Partial<T>

type Json = Record<string, unknown>

const isRecord = (value: unknown): value is Json =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** Entries as text, with the number of equal ones before each, so that all differ. */
const keysOf = (list: readonly unknown[]): string[] => {
  const counts = new Map<string, number>()
  return list.map((one) => {
    const json = JSON.stringify(one)
    const count = counts.get(json) ?? 0
    counts.set(json, count + 1)
    return `${count} ${json}`
  })
}

const parseKey = (key: string): unknown => JSON.parse(key.slice(key.indexOf(' ')))
const without = (keys: readonly string[], others: ReadonlySet<string>): string[] =>
  keys.filter((key) => !others.has(key))
const areEqual = (a: unknown, b: unknown) => JSON.stringify(a) === JSON.stringify(b)

interface Change {
  path: string
  before: unknown
  after: unknown
  current: unknown
}

/**
 * Removes from the current list what was removed, and adds what was added, in its place. A list in
 * another order is replaced, with what others have added at its end.
 */
const listSteps = (path: string, lists: [unknown[], unknown[], unknown[]]): JsonPatch => {
  const [before, after, current] = lists.map(keysOf) as [string[], string[], string[]]
  const [isOld, isWanted, isStored] = [new Set(before), new Set(after), new Set(current)]
  const [kept, added] = [after.filter((key) => isOld.has(key)), without(after, isOld)]
  if (
    !areEqual(
      kept,
      before.filter((key) => isWanted.has(key)),
    )
  ) {
    const own = after.filter((key) => !isOld.has(key) || isStored.has(key))
    const merged = [...own, ...without(without(current, isOld), isWanted)]
    return areEqual(merged, current) ? [] : [{ op: 'add', path, value: merged.map(parseKey) }]
  }
  const isGone = new Set(without(before, isWanted))
  const gone = current.flatMap((key, at) => (isGone.has(key) ? [at] : []))
  let length = current.length - gone.length
  return [
    // From the end, so that the numbers of the others stay as they are.
    ...gone.reverse().map((at) => ({ op: 'remove' as const, path: `${path}/${at}` })),
    ...without(added, isStored).map((key) => {
      const at = Math.min(after.indexOf(key), length++)
      return { op: 'add' as const, path: `${path}/${at}`, value: parseKey(key) }
    }),
  ]
}

const memberSteps = ({ path, before, after, current }: Change): JsonPatch => {
  if (areEqual(before, after)) return []
  if (Array.isArray(before) && Array.isArray(after) && Array.isArray(current))
    return listSteps(path, [before, after, current])
  if (isRecord(before) && isRecord(after) && isRecord(current))
    return stepsOf(before, after, current, { path })
  return [{ op: 'add', path, value: after }]
}

interface StepOptions {
  path?: string
  /** Members that are replaced as a whole. */
  whole?: readonly string[] | undefined
}

/** A JSON Patch that makes in `current` the changes from `before` to `after`, and no others. */
export const stepsOf = (
  before: Json,
  after: Json,
  current: Json,
  { path = '', whole = [] }: StepOptions = {},
): JsonPatch => {
  const names = Object.keys({ ...before, ...after })
  return names.flatMap((name) => {
    const at = `${path}/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`
    if (!(name in after)) return name in current ? [{ op: 'remove' as const, path: at }] : []
    const stored = whole.includes(name) ? undefined : current[name]
    return memberSteps({ path: at, before: before[name], after: after[name], current: stored })
  })
}

interface Targets {
  devices: readonly string[]
  groups: readonly string[]
}

/**
 * Of lists that mean everything when both are empty: they are replaced if what was chosen has been
 * removed by somebody else, since merging would leave them empty, and if somebody else has emptied
 * them, since merging would leave a part of what was chosen.
 */
export const wholeTargets = (before: Targets, after: Targets, current: Targets): string[] => {
  const idsOf = ({ devices, groups }: Targets) => [...devices, ...groups]
  const [old, stored] = [new Set(idsOf(before)), new Set(idsOf(current))]
  const isEmptied = stored.size === 0 && old.size > 0
  const isMerged = !isEmptied && idsOf(after).some((id) => !old.has(id) || stored.has(id))
  return isMerged ? [] : ['devices', 'groups']
}
