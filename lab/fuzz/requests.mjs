import {
  HOSTILE_TEXTS,
  ODD_BODIES,
  ODD_CONTENT_TYPES,
  ODD_NUMBERS,
  ODD_SEGMENTS,
} from './hostile.mjs'
import { mutate } from './mutate.mjs'
import { sideOf } from './session.mjs'
import { createValueMaker } from './values.mjs'

const CALLERS = {
  mine: 70,
  other: 12,
  write: 4,
  read: 3,
  ingest: 3,
  none: 3,
  forged: 2,
  odd: 2,
  operator: 1,
}
const OPERATORS = { operator: 90, mine: 4, none: 3, forged: 3 }
const RARE_PATHS = /^\/(healthz|api\/openapi\.json|admin\/cells)|reconcile$|countries$|timeZones$/
/** What the operator may do to the session's own account. */
const HARMLESS = /^GET|reconcile$/
const ID_MEMBERS = {
  group: 'groupId',
  groups: 'groupId',
  device: 'deviceId',
  devices: 'deviceId',
  user: 'userId',
}
const MODES = {
  valid: 50,
  mutated: 25,
  'odd body': 4,
  'odd type': 3,
  'odd query': 8,
  'odd header': 5,
  'odd path': 5,
}

/** Returns a function that makes the next request from the document and the replies so far. */
export function createRequestMaker({ operations, follow, prefixes }, session, random) {
  const { pick, chance, int } = random
  const commonOperations = operations.filter(({ path }) => !RARE_PATHS.test(path))
  let entries = []

  /**
   * An id of this kind: mostly of the caller's account, else deleted, of the other account, or
   * none.
   */
  const pickId = (kind, as) => {
    const known = session.entriesOf(kind)
    const own = known.filter(({ side }) => side === sideOf(as))
    const existing = own.filter(({ isDeleted }) => !isDeleted)
    const candidates = {
      existing,
      deleted: own.filter(({ isDeleted }) => isDeleted),
      foreign: known.filter(({ side }) => side !== sideOf(as)),
      none: [],
    }[random.pickWeighted({ existing: 74, deleted: 10, foreign: 12, none: 4 })]
    const chosen = candidates.length > 0 ? candidates : existing
    return chosen.length > 0 ? pick(chosen.slice(-40)) : undefined
  }
  const idFor = (as) => (name, schema) => {
    const example = [schema.examples?.[0]].flat()[0]
    const kind =
      prefixes.get(/^[a-z]+_/.exec(typeof example === 'string' ? example : '')?.[0]) ??
      ID_MEMBERS[name] ??
      (prefixes.values().toArray().includes(name) ? name : undefined)
    if (name === 'apiKey')
      return chance(0.3)
        ? session.accounts.mine.apiKey
        : session.apiKeys.length
          ? pick(session.apiKeys)
          : undefined
    if (name === 'userName' && chance(0.4)) return session.accounts.mine.userName
    if (schema.type === 'array' || schema.type === 'object') return undefined
    return kind && pickId(kind, as)?.reference
  }

  const makePath = ({ method, path, pathParameters }, as, mode) =>
    path.split(/(\{\w+\})/).map((part) => {
      const name = /^\{(\w+)\}$/.exec(part)?.[1]
      if (!name) return part
      if (mode === 'odd path' && chance(0.7)) return pick(ODD_SEGMENTS)
      if (name === 'accountId' && HARMLESS.test(`${method} ${path}`) && chance(0.5))
        return session.accounts.mine.id
      if (name === 'cell') return pick(['0', '1', '2', '-1'])
      const entry = pickId(name, as)
      if (entry) entries.push(entry)
      return (
        entry?.reference ??
        (pathParameters.find((one) => one.name === name)?.schema.examples?.[0] || 'none')
      )
    })

  const makeQuery = (operation, maker, mode) => {
    const query = operation.query
      .filter(({ required }) => required || chance(0.35))
      .map(({ name, schema }) => [
        name,
        name === 'cursor' ? pickCursor(operation) : maker.value(schema, name),
      ])
    if (mode !== 'odd query') return query
    const names = [...operation.query.map(({ name }) => name), 'limit', 'unknown', '__proto__']
    return [
      ...query,
      [
        pick(names),
        pick([
          ...HOSTILE_TEXTS,
          ...ODD_NUMBERS.map((number) => number.text ?? number),
          'name',
          '1',
          '1000',
          '1001',
        ]),
      ],
    ]
  }
  const pickCursor = ({ id }) => {
    const matching = session.cursors.filter(({ operation }) => operation === id)
    return matching.length && chance(0.8)
      ? pick(matching).reference
      : session.cursors.length
        ? pick(session.cursors).reference
        : 'bm9uZQ.bm9uZQ'
  }

  const makeHeaders = ({ headers }, path, mode) => {
    const sent = {}
    const known = session.etags.filter((etag) => etag.path === path.join())
    const pickTag = () =>
      known.length && chance(0.8)
        ? pick(known.slice(-5)).reference
        : pick(['*', '"1.x"', '"0.0", "2.x"', 'W/"1.x"'])
    if (headers.includes('If-Match') && chance(0.2)) sent['If-Match'] = pickTag()
    if (headers.includes('If-None-Match') && chance(0.3)) sent['If-None-Match'] = pickTag()
    if (headers.includes('Idempotency-Key') && chance(0.4))
      sent['Idempotency-Key'] = `key-${int(0, 400)}`
    if (chance(0.2)) sent['X-Request-Id'] = random.text(int(1, 64))
    if (mode !== 'odd header') return sent
    const name = pick([
      'If-Match',
      'If-None-Match',
      'Idempotency-Key',
      'X-Request-Id',
      'Accept',
      'Authorization',
      'Content-Encoding',
      'Origin',
    ])
    return {
      ...sent,
      [name]: pick([
        ...HOSTILE_TEXTS.map((text) => text.slice(0, 3000)),
        'gzip',
        'text/csv',
        'application/gpx+xml',
        '*/*;q=0',
        'Bearer',
        'Basic eDp5',
        '"'.repeat(99),
      ]),
    }
  }

  const makeBody = ({ bodies }, maker, mode) => {
    if (bodies.length === 0)
      return mode === 'odd body' ? { raw: pick(ODD_BODIES), type: 'application/json' } : {}
    const { type, schema, examples } = pick(bodies)
    if (mode === 'odd body') return { raw: pick(ODD_BODIES), type }
    const body =
      examples.length > 0 && chance(0.1)
        ? structuredClone(pick(examples))
        : aimAtMembers(maker.value(schema))
    if (mode !== 'mutated')
      return { body, type: mode === 'odd type' ? pick(ODD_CONTENT_TYPES) : type }
    // The parent allows the whole body to be replaced, too.
    const parent = { body }
    for (let times = int(1, 3); times > 0; times--)
      mutate(chance(0.05) ? parent : (parent.body ?? parent), { random, anything: maker.anything })
    return { body: parent.body, type }
  }
  /** The steps of a JSON Patch, mostly on members that exist. */
  const aimAtMembers = (steps) => {
    const names = [
      'name',
      'description',
      'limits',
      'limits/expires',
      'limits/expirationDate',
      'tags',
      'tags/a',
      'state',
      'id',
      'timeZone',
      '-',
      '0',
      '',
    ]
    return Array.isArray(steps) && steps.every((step) => step?.op)
      ? steps.map((step) => ({ ...step, path: chance(0.8) ? `/${pick(names)}` : step.path }))
      : steps
  }

  /** A PATCH may also be sent as the kind of patch that it is, as the document says in words. */
  const preciseType = ({ method }, type, body) => {
    if (method !== 'PATCH' || type !== 'application/json' || chance(0.5)) return type
    return `application/${Array.isArray(body) ? 'json' : 'merge'}-patch+json`
  }

  return () => {
    entries = []
    const operation = chance(0.03) ? pick(operations) : pick(commonOperations)
    const as = operation.security.includes('operator')
      ? random.pickWeighted(OPERATORS)
      : random.pickWeighted(CALLERS)
    const mode = random.pickWeighted(MODES)
    const maker = createValueMaker({ random, follow, idFor: idFor(as), now: Date.now() })
    const path = makePath(operation, as, mode)
    const { body, raw, type } = makeBody(operation, maker, mode)
    const headers = {
      ...(type !== undefined && { 'Content-Type': preciseType(operation, type, body) }),
      ...makeHeaders(operation, path, mode),
    }
    const method =
      operation.method === 'GET' && chance(0.04)
        ? 'HEAD'
        : chance(0.01)
          ? pick(['OPTIONS', 'PUT', 'DELETE', 'PURGE'])
          : operation.method
    const query = makeQuery(operation, maker, mode)
    return {
      operation: operation.id,
      as,
      mode,
      method,
      path,
      query,
      headers,
      body,
      raw,
      chunked: chance(0.05),
      follows: chance(0.2),
      entries,
    }
  }
}
