import { findRefusalFaults } from './positive.mjs'
import { sideOf } from './session.mjs'

/** Statuses of the HTTP server itself, for requests that the Worker never sees. */
const SERVER_STATUSES = new Set([400, 431, 414])

/**
 * Returns a check that lists what is wrong with a reply, as sentences; none if it keeps the
 * document.
 */
export function createChecker({ operations, checkProblem }) {
  const byId = new Map(operations.map((operation) => [operation.id, operation]))

  return ({ template, request, reply }) => {
    const operation = byId.get(template.operation)
    const { status, headers, json, text } = reply
    if (status >= 500) return [`a ${status}${json?.code ? ` (${json.code})` : ''}`]
    if (isOutsideOperation(operation, template, request))
      return status < 400 || SERVER_STATUSES.has(status) || json === undefined
        ? []
        : findProblemFaults(reply)

    const documented = operation.replies[status]
    if (!documented)
      return [`an undocumented status ${status}${json?.code ? ` (${json.code})` : ''}`]
    const type = headers['content-type']?.split(';', 1)[0]
    if (template.method === 'HEAD' || status === 304)
      return text === ''
        ? findHeaderFaults(documented, reply, request)
        : ['a body where there must be none']
    const media = documented.types[type]
    if (!media) return [`an undocumented content type ${type} with ${status}`]
    const isJson = /[/+]json$/.test(type)
    if (isJson && json === undefined) return ['a body that is not JSON']
    const failure = isJson ? media.check(json) : null
    const faults = [
      ...(failure ? [`a ${status} that does not match its schema: ${describe(failure)}`] : []),
      ...(status >= 400 ? findProblemFaults(reply, media.codes) : []),
      ...findRefusalFaults(operation, { template, request, reply }),
      ...findHeaderFaults(documented, reply, request),
      ...findOwnershipFaults(template, reply),
      ...(status < 300 ? findAcceptedFaults(operation, request) : []),
    ]
    return [...new Set(faults)]
  }

  function findProblemFaults({ status, headers, json }, codes) {
    const failure = checkProblem(json)
    if (failure) return [`a ${status} that is no problem document: ${describe(failure)}`]
    return [
      json.status !== status && `a problem with status ${json.status} in a ${status}`,
      json.error !== json.detail && 'a problem whose error is not its detail',
      // A replayed reply repeats the request id of the first.
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
      ) && 'a problem that shows SQL or a stack trace',
    ].filter(Boolean)
  }
}

const describe = ({ rule, pointer }) => `${rule} at ${pointer || '/'}`

/**
 * Whether path or method are no longer the operation's. Then only the shape of a problem can be
 * checked.
 */
const isOutsideOperation = (operation, template, { path, method }) => {
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

const findHeaderFaults = (documented, { status, headers }, request) => {
  const sentId = request.headers['X-Request-Id']
  const mustEcho = sentId !== undefined && /^[A-Za-z0-9._-]{1,64}$/.test(sentId)
  return [
    ...documented.headers.map(({ name, required, check }) => {
      const value = headers[name.toLowerCase()]
      if (value === undefined) return required && `a ${status} without ${name}`
      const failure = check(value)
      return failure && `a ${status} whose ${name} does not match its schema: ${failure.rule}`
    }),
    !headers['x-request-id'] && 'a reply without X-Request-Id',
    mustEcho &&
      headers['x-request-id'] !== sentId &&
      'a reply with another X-Request-Id than was sent',
    !headers['cache-control'] && 'a reply without Cache-Control',
  ].filter(Boolean)
}

/**
 * An id of another account or of something deleted must get the same reply as an id that never
 * existed.
 */
const findOwnershipFaults = ({ as, entries }, { status, headers, json }) => {
  if (headers['idempotent-replayed'] || sideOf(as) === 'operator') return []
  const showsExistence =
    status < 400 || status === 412 || (status === 409 && json.code !== 'request-in-progress')
  if (!showsExistence) return []
  const hidden = entries.find(({ side, isDeleted }) => isDeleted || side !== sideOf(as))
  return hidden
    ? [
        `a ${status} for a ${hidden.kind} that is ${hidden.isDeleted ? 'deleted' : 'another account’s'}`,
      ]
    : []
}

/** The body as the service reads it: null counts as left out. */
const withoutNulls = (value) => {
  if (Array.isArray(value)) return value.map(withoutNulls)
  if (typeof value !== 'object' || value === null) return value
  return Object.fromEntries(
    Object.entries(value).flatMap(([name, member]) =>
      member === null ? [] : [[name, withoutNulls(member)]],
    ),
  )
}

/** A body that the document does not allow must not be accepted. */
const findAcceptedFaults = ({ bodies }, { headers, body }) => {
  const type = headers['Content-Type']?.split(';', 1)[0].toLowerCase() ?? ''
  const documented = bodies.find((one) => one.type === type.replace(/(json|merge)-patch\+/, ''))
  if (!documented || body === undefined || body.length === 0) return []
  const given = JSON.parse(body.toString().replace(/^\ufeff/, ''))
  const failure = documented.check(given)
  return failure && documented.check(withoutNulls(given))
    ? [`a body was accepted that the document does not allow: ${describe(failure)}`]
    : []
}
