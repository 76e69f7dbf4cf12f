import { positiveFaults } from './positive.mjs'
import { sideOf } from './world.mjs'

const BEYOND_HTTP = new Set([400, 431, 414])

/** What is wrong with a reply, as a list of sentences; none where it keeps every promise of the document. */
export function checker({ operations, checkProblem }) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))

  return ({ template, request, reply }) => {
    const operation = byId.get(template.operation)
    const { status, headers, json, text } = reply
    const strayed = isStray(operation, template, request)
    if (status >= 500) return [`a ${status}${json?.code ? ` (${json.code})` : ''}`]
    if (strayed)
      return status < 400 || BEYOND_HTTP.has(status) || json === undefined
        ? []
        : problemFaults(reply)

    const promised = operation.replies[status]
    if (!promised) return [`an undocumented status ${status}${json?.code ? ` (${json.code})` : ''}`]
    const type = headers['content-type']?.split(';', 1)[0]
    const bodiless = template.method === 'HEAD' || status === 304
    if (bodiless)
      return text === ''
        ? headerFaults(promised, reply, request)
        : ['a body where there must be none']
    const media = promised.types[type]
    if (!media) return [`an undocumented content type ${type} with ${status}`]
    const isJson = /json$/.test(type)
    if (isJson && json === undefined) return ['a body that is not JSON']
    const found = isJson ? media.check(json) : null
    const faults = [
      ...(found
        ? [`a ${status} that does not match its schema: ${found.rule} at ${found.at || '/'}`]
        : []),
      ...(status >= 400 ? problemFaults(reply, media.codes) : []),
      ...positiveFaults(operation, template, request, reply),
      ...headerFaults(promised, reply, request),
      ...ownershipFaults(template, reply),
      ...(status < 300 ? acceptedFaults(operation, request) : []),
    ]
    return [...new Set(faults)]
  }

  function problemFaults({ status, headers, json }, codes) {
    const found = checkProblem(json)
    if (found)
      return [`a ${status} that is no problem document: ${found.rule} at ${found.at || '/'}`]
    return [
      json.status !== status && `a problem that says ${json.status} with a ${status}`,
      json.error !== json.detail && 'a problem whose error is not its detail',
      // What is replayed is the first answer, byte for byte.
      json.requestId !== headers['x-request-id'] &&
        !headers['idempotent-replayed'] &&
        'a problem with another request id than its header',
      codes &&
        !codes.includes(json.code) &&
        `an undocumented problem ${json.code} with a ${status}`,
      status === 401 && !headers['www-authenticate'] && 'a 401 without WWW-Authenticate',
      (status === 429 || status === 503) &&
        !headers['retry-after'] &&
        `a ${status} without Retry-After`,
      /\bat \w+ \(|SQLITE|D1_ERROR|SELECT |INSERT /.test(
        JSON.stringify({ ...json, instance: '', errors: [] }),
      ) && 'a problem that tells of our insides',
    ].filter(Boolean)
  }
}

/** A path or a method that is not the operation's any more: then there is nothing to hold it to but the problem's shape. */
const isStray = (operation, template, { path, method }) => {
  if (method !== operation.method && !(method === 'HEAD' && operation.method === 'GET')) return true
  const pattern = new RegExp(
    `^${operation.path.replaceAll(/[.]/g, '\\$&').replaceAll(/\{\w+\}/g, '[^/?#]+')}$`,
  )
  const pathname = path.split('?', 1)[0]
  return (
    template.mode === 'odd path' &&
    (!pattern.test(pathname) || /%2e%2e|%zz|%$|%ff|%2f/i.test(pathname))
  )
}

const headerFaults = (promised, { status, headers }, request) => {
  const given = request.headers['X-Request-Id']
  const echoes = given !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(given)
  return [
    ...promised.headers.map(({ name, required, check }) => {
      const value = headers[name.toLowerCase()]
      if (value === undefined) return required && `a ${status} without ${name}`
      const found = check(value)
      return found && `a ${status} whose ${name} does not match its schema: ${found.rule}`
    }),
    !headers['x-request-id'] && 'a reply without X-Request-Id',
    echoes &&
      headers['x-request-id'] !== given &&
      'a reply with another X-Request-Id than was given',
    !headers['cache-control'] && 'a reply without Cache-Control',
  ].filter(Boolean)
}

/** Ids of another account, and of what is gone, look like ids that never were. */
const ownershipFaults = ({ as, entries }, { status, headers, json }) => {
  if (headers['idempotent-replayed'] || sideOf(as) === 'operator') return []
  const told =
    status < 400 || status === 412 || (status === 409 && json.code !== 'request-in-progress')
  if (!told) return []
  const wrong = entries.find(({ side, gone }) => gone || side !== sideOf(as))
  return wrong
    ? [`a ${status} for a ${wrong.kind} that is ${wrong.gone ? 'deleted' : 'another account’s'}`]
    : []
}

/** Null counts as left out. */
const withoutNulls = (value) => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member)]],
    ),
  )
}
/** A query may leave one end open. */
const withBothEnds = ({ from, to, ...others }) => ({ from: from ?? to, to: to ?? from, ...others })
const isHalfOpen = (body) => body?.from !== undefined || body?.to !== undefined

/** The body as the document has it, where the service takes more. */
const strictForms = (body) => {
  const bare = withoutNulls(body)
  return [body, bare, ...(isHalfOpen(bare) ? [withBothEnds(bare)] : [])]
}

/** What the document refuses must not be taken. */
const acceptedFaults = ({ bodies }, { headers, body }) => {
  const type = headers['Content-Type']?.split(';', 1)[0].toLowerCase() ?? ''
  const promised = bodies.find((one) => one.type === type.replace(/(json|merge)-patch\+/, ''))
  if (!promised || body === undefined || body.length === 0) return []
  const given = JSON.parse(body.toString().replace(/^\ufeff/, ''))
  const found = promised.check(given)
  return found && strictForms(given).every((form) => promised.check(form))
    ? [`a body was accepted that the document refuses: ${found.rule} at ${found.at || '/'}`]
    : []
}
