/** A value that an earlier reply of the same world gave: so a history can be told again elsewhere, whole or in part. */
export class Ref {
  constructor(request, pointer, fallback) {
    Object.assign(this, { request, pointer, fallback })
  }
}

/** Text that goes into a body as it is: numbers that no JavaScript number would be written as. */
export class Raw {
  constructor(text) {
    this.text = text
  }
}

/** Where a reply has it: `/header/etag`, or a JSON Pointer into the body. */
export const found = (reply, pointer) => {
  if (!reply) return undefined
  const [first, ...rest] = pointer.slice(1).split('/')
  if (first === 'header') return reply.headers[rest[0]]
  return [first, ...rest].reduce((at, name) => at?.[name], reply.json)
}

/** Puts values in the place of references. What the history lacks is made up: it looks the same and leads nowhere. */
export const filled = (tree, replies) => {
  if (tree instanceof Ref) return found(replies.get(tree.request), tree.pointer) ?? tree.fallback
  if (tree instanceof Raw || typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((item) => filled(item, replies))
  // Not fromEntries: a member may be called __proto__.
  const copy = Object.create(null)
  for (const [name, value] of Object.entries(tree)) copy[name] = filled(value, replies)
  return copy
}

export const stringify = (tree) => {
  if (tree instanceof Raw) return tree.text
  if (Array.isArray(tree)) return `[${tree.map(stringify).join(',')}]`
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree) ?? 'null'
  return `{${Object.entries(tree)
    .map(([name, value]) => `${JSON.stringify(name)}:${stringify(value)}`)
    .join(',')}}`
}
