import { readFileSync } from 'node:fs'
import { listAll } from './http.mjs'
import { dereferenced } from './jsonReference.mjs'

/**
 * The lists of the OpenAPI document: path, and the member that holds the items. Not keys: their
 * `lastUsed` changes.
 */
function documentedLists() {
  const document = JSON.parse(readFileSync('public/api/openapi.json', 'utf8'))
  return Object.entries(document.paths).flatMap(([path, { get }]) => {
    const members = dereferenced(
      document,
      get?.responses['200']?.content?.['application/json']?.schema,
    )?.properties
    if (!members?.nextCursor || !path.startsWith('/api/') || path === '/api/account/keys') return []
    const [member] = Object.entries(members).find(([, schema]) => schema.type === 'array')
    return [{ path, member }]
  })
}

/** Everything that an account can read of itself, by path. */
export async function readAccountState(call) {
  const state = { '/api/account': await call('GET', '/api/account') }
  const lists = documentedLists()
  for (const { path, member } of lists)
    if (!path.includes('{')) state[path] = await listAll(call, path, member)
  for (const { path, member } of lists.filter((list) => /\{deviceId\}/.test(list.path))) {
    for (const { id } of state['/api/devices']) {
      const ofDevice = path.replace('{deviceId}', id)
      state[ofDevice] = await listAll(call, ofDevice, member)
    }
  }
  return state
}

/** One sentence for each path at which two states differ. */
export function describeDifferences(before, after) {
  const paths = new Set([...Object.keys(before), ...Object.keys(after)])
  return [...paths].flatMap((path) => {
    const [was, is] = [before[path], after[path]]
    if (JSON.stringify(was) === JSON.stringify(is)) return []
    const areLists = Array.isArray(was) && Array.isArray(is)
    return [
      `${path}: ${areLists ? `${was.length} items before, ${is.length} after` : 'not the same'}`,
    ]
  })
}
