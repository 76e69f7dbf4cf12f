import { readFileSync } from 'node:fs'
import { dereferenced } from '../fuzz/schema.mjs'

/** Every page of a list. */
export async function walk(call, path, name) {
  const rows = []
  for (let cursor = ''; cursor !== null; ) {
    const page = await call(
      'GET',
      `${path}${path.includes('?') ? '&' : '?'}limit=1000${cursor && `&cursor=${encodeURIComponent(cursor)}`}`,
    )
    rows.push(...page[name])
    cursor = page.nextCursor
  }
  return rows
}

/** Lists that the published document has: path and the member that the rows are in. Keys say when they were used last, and that moves. */
function lists() {
  const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const answer = dereferenced(
      document,
      get?.responses['200']?.content?.['application/json']?.schema,
    )?.properties
    if (!answer?.nextCursor || !path.startsWith('/api/') || path === '/api/account/keys') return []
    const [name] = Object.entries(answer).find(([, schema]) => schema.type === 'array')
    return [{ path, name }]
  })
}

/** All that an account can see of itself, by path: what must not change behind its back. */
export async function readState(call) {
  const state = { '/api/account': await call('GET', '/api/account') }
  const all = lists()
  for (const { path, name } of all)
    if (!path.includes('{')) state[path] = await walk(call, path, name)
  for (const { path, name } of all.filter((list) => /\{deviceId\}/.test(list.path))) {
    for (const { id } of state['/api/devices']) {
      const own = path.replace('{deviceId}', id)
      state[own] = await walk(call, own, name)
    }
  }
  return state
}

/** Where two states differ, in words. */
export function differences(before, after) {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].flatMap((path) => {
    const [was, is] = [before[path], after[path]]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    return [
      `${path}: ${Array.isArray(was) && Array.isArray(is) ? `${was.length} rows before, ${is.length} after` : 'not the same'}`,
    ]
  })
}
