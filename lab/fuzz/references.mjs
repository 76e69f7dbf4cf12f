/**
 * A value of an earlier reply of the session, so that a history can be repeated in another session,
 * whole or in part.
 */
export class ReplyReference {
  constructor(request, pointer, fallback) {
    Object.assign(this, { request, pointer, fallback })
  }
}

/** JSON text that goes into a body unchanged: numbers that JavaScript would write otherwise. */
export class RawJson {
  constructor(text) {
    this.text = text
  }
}

/** The value at `/header/etag`, or at a JSON Pointer into the body. */
export const readPointer = (reply, pointer) => {
  if (!reply) return undefined
  const [first, ...rest] = pointer.slice(1).split('/')
  if (first === 'header') return reply.headers[rest[0]]
  return [first, ...rest].reduce((node, name) => node?.[name], reply.json)
}

/**
 * Replaces references by their values. One whose reply the history lacks gets its fallback, which
 * exists nowhere.
 */
export const resolveReferences = (tree, replies) => {
  if (tree instanceof ReplyReference)
    return readPointer(replies.get(tree.request), tree.pointer) ?? tree.fallback
  if (tree instanceof RawJson || typeof tree !== 'object' || tree === null) return tree
  if (Array.isArray(tree)) return tree.map((item) => resolveReferences(item, replies))
  // Not `fromEntries`: a member may be called __proto__.
  const copy = Object.create(null)
  for (const [name, value] of Object.entries(tree)) copy[name] = resolveReferences(value, replies)
  return copy
}

export const stringify = (tree) => {
  if (tree instanceof RawJson) return tree.text
  if (Array.isArray(tree)) return `[${tree.map(stringify).join(',')}]`
  if (typeof tree !== 'object' || tree === null) return JSON.stringify(tree) ?? 'null'
  return `{${Object.entries(tree)
    .map(([name, value]) => `${JSON.stringify(name)}:${stringify(value)}`)
    .join(',')}}`
}
