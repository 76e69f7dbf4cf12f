import { caller, send } from '../harness/http.mjs'
import { filled, Ref, stringify } from './symbols.mjs'

let worlds = 0
const LICENSES = 40

/** Two accounts that know nothing of each other, the callers of both, and what their replies have told so far. */
export async function openWorld(base, adminToken) {
  const name = `fuzz-${process.pid.toString(36)}-${(worlds++).toString(36)}`
  const operator = caller(base, adminToken)
  const open = async (userName, cell) => {
    const { apiKey, account } = await operator('POST', '/admin/accounts', {
      userName,
      name: userName,
      licenses: LICENSES,
      timeZone: 'UTC',
      cell,
    })
    return { userName, apiKey, id: account.id, token: await tokenFor(base, userName, apiKey) }
  }
  const [mine, other] = [await open(`${name}-a`, worlds % 2), await open(`${name}-b`, 0)]
  const asMine = caller(base, mine.token)
  const narrow = async (scope) => {
    const { apiKey } = await asMine('POST', '/api/account/keys', { name: scope, scopes: [scope] })
    return tokenFor(base, mine.userName, apiKey)
  }
  const [read, write, ingest] = await Promise.all(['read', 'write', 'ingest'].map(narrow))
  const tokens = {
    mine: mine.token,
    other: other.token,
    read,
    write,
    ingest,
    operator: adminToken,
    forged: forged(mine.token),
    odd: 'x.y.z',
  }
  return new World(base, tokens, { mine, other })
}

const tokenFor = async (base, userName, apiKey) =>
  (await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })).token

const forged = (token) => `${token.slice(0, -6)}${token.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA'}`

/** The accounts that a caller's ids are of. */
export const sideOf = (as) => (as === 'other' ? 'other' : as === 'operator' ? 'operator' : 'mine')

const OWN_KINDS = new Set(['keyId', 'accountId'])

class World {
  #known = new Set()
  replies = new Map()
  history = []
  ids = new Map()
  cursors = []
  etags = []
  apiKeys = []

  constructor(base, tokens, accounts) {
    Object.assign(this, { base, tokens, accounts })
  }

  /** Carries a request out; `index` is the one under which later requests refer to its reply. */
  async carryOut(template, index) {
    const request = this.written(template)
    const reply = await send(this.base, request.path, request)
    this.replies.set(index, { ...reply, json: jsonOf(reply) })
    return { request, reply: this.replies.get(index) }
  }

  /** A template as it goes over the wire, with what this world's replies gave. */
  written({ as, method, path, query, headers, body, raw, chunked }) {
    const fill = (part) => filled(part, this.replies)
    const segments = path.map((part) =>
      typeof part === 'string' ? part : encodeURIComponent(fill(part)),
    )
    const search = query
      .map(
        ([name, value]) =>
          `${encodeURIComponent(name)}=${encodeURIComponent(wellFormed(fill(value)))}`,
      )
      .join('&')
    const token = this.tokens[as]
    const sent = Object.entries({ ...(token && { Authorization: `Bearer ${token}` }), ...headers })
    const text = raw ?? (body === undefined ? undefined : stringify(fill(body)))
    return {
      method,
      path: `${segments.join('')}${search && `?${search}`}`,
      headers: Object.fromEntries(sent.map(([name, value]) => [name, headerText(fill(value))])),
      body: text,
      chunked,
    }
  }

  /** Takes up what a reply tells: new ids, a cursor, an entity tag, a key; and that something is gone. */
  learn(template, index, reply, prefixes) {
    const side = sideOf(template.as)
    if (reply.status < 300) this.#learnIds(reply, reply.json, '', index, side, prefixes)
    if (reply.json?.nextCursor)
      this.cursors.push({
        operation: template.operation,
        ref: new Ref(index, '/nextCursor', 'bm9uZQ.bm9uZQ'),
      })
    if (reply.headers.etag)
      this.etags.push({
        path: template.path.join(),
        ref: new Ref(index, '/header/etag', '"1.none"'),
      })
    if (reply.json?.apiKey) this.apiKeys.push(new Ref(index, '/apiKey', 'pgk_none'))
    if (template.method === 'DELETE' && reply.status === 200)
      for (const entry of template.entries) entry.gone = true
    for (const list of [this.cursors, this.etags, this.apiKeys]) if (list.length > 200) list.shift()
  }

  /** A world lives on a few keys and accounts of its own; of these only what it makes is known, so that it does not end itself. */
  #learnIds(reply, value, at, index, side, prefixes) {
    if (typeof value !== 'object' || value === null) return
    for (const [name, member] of Object.entries(value)) {
      const kind =
        name === 'id' && typeof member === 'string' && prefixes.get(/^[a-z]+_/.exec(member)?.[0])
      if (!kind) this.#learnIds(reply, member, `${at}/${name}`, index, side, prefixes)
      else if (!this.#known.has(member) && (reply.status === 201 || !OWN_KINDS.has(kind))) {
        this.#known.add(member)
        this.entriesOf(kind).push({
          kind,
          side,
          gone: false,
          ref: new Ref(index, `${at}/id`, member.replace(/[^_]{20}$/, '0'.repeat(20))),
        })
      }
    }
  }

  entriesOf(kind) {
    if (!this.ids.has(kind)) this.ids.set(kind, [])
    return this.ids.get(kind)
  }
}

const jsonOf = ({ headers, text }) => {
  if (!/json/.test(headers['content-type'] ?? '')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const wellFormed = (value) =>
  String(typeof value === 'object' ? JSON.stringify(value) : value).toWellFormed()

/** Node refuses what no header may hold; the rest goes out byte by byte. */
const headerText = (value) => String(value).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?')
