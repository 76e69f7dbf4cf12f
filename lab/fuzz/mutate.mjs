import { HOSTILE_TEXTS, ODD_NAMES, ODD_NUMBERS } from './hostile.mjs'
import { RawJson, ReplyReference } from './references.mjs'

const isTree = (value) =>
  typeof value === 'object' &&
  value !== null &&
  !(value instanceof ReplyReference) &&
  !(value instanceof RawJson)

/** Every member and item of a tree, as its parent and its name. */
const listMembers = (tree) =>
  isTree(tree)
    ? Object.keys(tree).flatMap((name) => [{ parent: tree, name }, ...listMembers(tree[name])])
    : []

const listObjects = (tree) =>
  isTree(tree)
    ? [...(Array.isArray(tree) ? [] : [tree]), ...Object.values(tree).flatMap(listObjects)]
    : []

const remove = (parent, name) =>
  Array.isArray(parent) ? parent.splice(name, 1) : delete parent[name]

const set = (parent, name, value) =>
  Object.defineProperty(parent, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })

/** Changes the tree in one place, so that it is probably invalid. Returns the kind of change. */
export function mutate(tree, { random, anything }) {
  const { pick } = random
  const changes = {
    'wrong type': ({ parent, name }) =>
      set(parent, name, pick([null, true, 'text', 17, [], {}, [parent[name]], anything()])),
    missing: ({ parent, name }) => remove(parent, name),
    hostile: ({ parent, name }) => set(parent, name, pick(HOSTILE_TEXTS)),
    'odd number': ({ parent, name }) => set(parent, name, pick(ODD_NUMBERS)),
    twice: ({ parent, name }) => set(parent, name, [parent[name], parent[name]]),
  }
  const members = listMembers(tree)
  const kind = members.length === 0 || random.chance(0.2) ? 'extra' : pick(Object.keys(changes))
  if (kind === 'extra') {
    const parent = pick(listObjects(tree))
    if (!parent) return 'none'
    set(parent, pick(ODD_NAMES), anything())
  } else changes[kind](pick(members))
  return kind
}
