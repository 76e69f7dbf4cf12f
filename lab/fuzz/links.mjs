import { send } from '../harness/http.mjs'
import { readPointer } from './references.mjs'

/** Callers that may read what they have made. */
const READERS = new Set(['mine', 'other', 'operator', 'write', 'read'])
/** Those of them that have one scope. Each may also read. */
const SCOPED = new Set(['write', 'read'])

/** A device has not reported yet, an account has never moved. */
const MAY_BE_ABSENT = new Set(['readLastLocation', 'readMove'])

/** The values of a path's parameters: `{deviceId}` of `/api/devices/{deviceId}`. */
const valuesIn = (template, path) => {
  const segments = path.split('?', 1)[0].split('/')
  return Object.fromEntries(
    template.split('/').flatMap((part, at) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      return name ? [[name, decodeURIComponent(segments[at])]] : []
    }),
  )
}

const evaluated = (expression, reply, fromPath) => {
  const pointer = /^\$response\.body#(.*)$/.exec(expression)?.[1]
  return pointer ? readPointer(reply, pointer) : fromPath[expression.replace('$request.path.', '')]
}

/** Follows the links of a reply that only read; each must lead somewhere. */
export const createLinkFollower = ({ operations }) => {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))
  return async (base, { template, request, reply }) => {
    const from = byId.get(template.operation)
    const mustFollow = template.follows && READERS.has(template.as) && reply.status < 300
    if (!mustFollow || template.method !== from.method || !reply.json) return []
    const faults = []
    for (const { operationId, parameters } of from.replies[reply.status]?.links ?? []) {
      const target = byId.get(operationId)
      const fromPath = valuesIn(from.path, request.path)
      const values = Object.entries(parameters).map(([name, expression]) => [
        name,
        evaluated(expression, reply, fromPath),
      ])
      // ADMIN_TOKEN is no operator that could be read. An empty list and a last page lead nowhere.
      if (values.some(([, value]) => value === 'operator')) continue
      if (target.method !== 'GET' || values.some(([, value]) => typeof value !== 'string')) continue
      if (SCOPED.has(template.as) && !target.scopes.includes('read')) continue
      faults.push(...(await follow(base, target, { values: Object.fromEntries(values), request })))
    }
    return faults
  }
}

/** Filters and their cursor belong together. */
const queryFor = ({ query }, values, request) => {
  const inQuery = query.filter(({ name }) => name in values).map(({ name }) => name)
  if (inQuery.length === 0) return ''
  const search = new URLSearchParams(request.path.split('?')[1])
  for (const name of inQuery) search.set(name, values[name])
  return `?${search}`
}

async function follow(base, target, { values, request }) {
  const path = target.path.replaceAll(/\{(\w+)\}/g, (_, name) => encodeURIComponent(values[name]))
  const { Authorization } = request.headers
  const { status } = await send(base, `${path}${queryFor(target, values, request)}`, {
    headers: { ...(Authorization && { Authorization }) },
  })
  const isKnown = status < 300 || (status === 404 && MAY_BE_ABSENT.has(target.id))
  return isKnown ? [] : [`a link to ${target.id} that leads to a ${status}`]
}
