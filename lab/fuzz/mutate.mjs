import { HOSTILE_TEXTS, ODD_NAMES, ODD_NUMBERS } from './hostile.mjs'
import { Raw, Ref } from './symbols.mjs'

const isTree = (value) =>
  typeof value === 'object' && value !== null && !(value instanceof Ref) && !(value instanceof Raw)

/** Every place in a tree that has a holder: the holder and the name under which it holds. */
const places = (tree) =>
  isTree(tree)
    ? Object.keys(tree).flatMap((name) => [{ holder: tree, name }, ...places(tree[name])])
    : []

const objects = (tree) =>
  isTree(tree)
    ? [...(Array.isArray(tree) ? [] : [tree]), ...Object.values(tree).flatMap(objects)]
    : []

const remove = (holder, name) =>
  Array.isArray(holder) ? holder.splice(name, 1) : delete holder[name]

const put = (holder, name, value) =>
  Object.defineProperty(holder, name, {
    value,
    enumerable: true,
    configurable: true,
    writable: true,
  })

/** Breaks a body in one place and one way; answers the way. The tree is changed. */
export function mutate(tree, { random, anything }) {
  const { pick } = random
  const ways = {
    'wrong type': ({ holder, name }) =>
      put(holder, name, pick([null, true, 'text', 17, [], {}, [holder[name]], anything()])),
    missing: ({ holder, name }) => remove(holder, name),
    hostile: ({ holder, name }) => put(holder, name, pick(HOSTILE_TEXTS)),
    'odd number': ({ holder, name }) => put(holder, name, pick(ODD_NUMBERS)),
    twice: ({ holder, name }) => put(holder, name, [holder[name], holder[name]]),
  }
  const all = places(tree)
  const way = all.length === 0 || random.chance(0.2) ? 'extra' : pick(Object.keys(ways))
  if (way === 'extra') {
    const holder = pick(objects(tree))
    if (!holder) return 'none'
    put(holder, pick(ODD_NAMES), anything())
  } else ways[way](pick(all))
  return way
}
