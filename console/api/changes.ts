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

const without = (list: readonly unknown[], others: readonly unknown[]): unknown[] => {
  const keys = new Set(others.map((one) => JSON.stringify(one)))
  return list.filter((one) => !keys.has(JSON.stringify(one)))
}

interface Change {
  path: string
  before: unknown
  after: unknown
  current: unknown
}

/** Removes from the current list what was removed, and adds what was added, in its place. */
const listSteps = (
  path: string,
  [before, after, current]: [unknown[], unknown[], unknown[]],
): JsonPatch => {
  const removed = new Set(without(before, after).map((one) => JSON.stringify(one)))
  const gone = current.flatMap((one, at) => (removed.has(JSON.stringify(one)) ? [at] : []))
  let length = current.length - gone.length
  return [
    // From the end, so that the numbers of the others stay as they are.
    ...gone.reverse().map((at) => ({ op: 'remove' as const, path: `${path}/${at}` })),
    ...without(without(after, before), current).map((value) => {
      const at = Math.min(after.indexOf(value), length++)
      return { op: 'add' as const, path: `${path}/${at}`, value }
    }),
  ]
}

const memberSteps = ({ path, before, after, current }: Change): JsonPatch => {
  if (JSON.stringify(before) === JSON.stringify(after)) return []
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
 * removed by somebody else, since merging would leave them empty.
 */
export const wholeTargets = (before: Targets, after: Targets, current: Targets): string[] => {
  const idsOf = ({ devices, groups }: Targets) => [...devices, ...groups]
  const [old, stored] = [new Set(idsOf(before)), new Set(idsOf(current))]
  const isMerged = idsOf(after).some((id) => !old.has(id) || stored.has(id))
  return isMerged ? [] : ['devices', 'groups']
}
