import { caller, getToken, openAccount, send } from '../harness/http.mjs'
import { ReplyReference, resolveReferences, stringify } from './references.mjs'

let sessionCount = 0
const LICENSES = 40
const MAX_REMEMBERED = 200

/** Opens two accounts that must not see each other, and tokens of several kinds. */
export async function openSession(base, adminToken) {
  const name = `fuzz-${process.pid.toString(36)}-${(sessionCount++).toString(36)}`
  const open = (userName, cell) =>
    openAccount(base, adminToken, { userName, licenses: LICENSES, cell })
  const [mine, other] = [await open(`${name}-a`, sessionCount % 2), await open(`${name}-b`, 0)]
  const tokenWithScope = async (scope) => {
    const members = { name: scope, scopes: [scope] }
    const { apiKey } = await caller(base, mine.token)('POST', '/api/account/keys', members)
    return getToken(base, mine.userName, apiKey)
  }
  const [read, write, ingest] = await Promise.all(['read', 'write', 'ingest'].map(tokenWithScope))
  const tokens = {
    mine: mine.token,
    other: other.token,
    read,
    write,
    ingest,
    operator: adminToken,
    forged: forge(mine.token),
    odd: 'x.y.z',
  }
  return new Session(base, tokens, { mine, other })
}

const forge = (token) => `${token.slice(0, -6)}${token.endsWith('AAAAAA') ? 'BBBBBB' : 'AAAAAA'}`

/**
 * Whose ids a caller may use: those of its own account, of the other account, or the operator's.
 */
export const sideOf = (as) => (as === 'other' ? 'other' : as === 'operator' ? 'operator' : 'mine')

/**
 * Ids of these kinds are remembered only if the session created them, so that it does not delete
 * its own accounts and keys.
 */
const PROTECTED_KINDS = new Set(['keyId', 'accountId'])

class Session {
  #knownIds = new Set()
  replies = new Map()
  history = []
  ids = new Map()
  cursors = []
  etags = []
  apiKeys = []

  constructor(base, tokens, accounts) {
    Object.assign(this, { base, tokens, accounts })
  }

  /** Sends a request. Later requests refer to its reply by `index`. */
  async execute(template, index) {
    const request = this.toRequest(template)
    const reply = await send(this.base, request.path, request)
    this.replies.set(index, { ...reply, json: parseJson(reply) })
    return { request, reply: this.replies.get(index) }
  }

  /** Fills a template with the values of this session's replies. */
  toRequest({ as, method, path, query, headers, body, raw, chunked }) {
    const fill = (part) => resolveReferences(part, this.replies)
    const segments = path.map((part) =>
      typeof part === 'string' ? part : encodeURIComponent(fill(part)),
    )
    const search = query
      .map(
        ([name, value]) =>
          `${encodeURIComponent(name)}=${encodeURIComponent(toWellFormedText(fill(value)))}`,
      )
      .join('&')
    const token = this.tokens[as]
    const sent = Object.entries({ ...(token && { Authorization: `Bearer ${token}` }), ...headers })
    const text = raw ?? (body === undefined ? undefined : stringify(fill(body)))
    return {
      method,
      path: `${segments.join('')}${search && `?${search}`}`,
      headers: Object.fromEntries(sent.map(([name, value]) => [name, toHeaderText(fill(value))])),
      body: text,
      chunked,
    }
  }

  /** Remembers the ids, the cursor, the entity tag and the key of a reply, and what it deleted. */
  remember(template, index, reply, prefixes) {
    const side = sideOf(template.as)
    if (reply.status < 300)
      this.#rememberIds(reply.json, '', { index, side, prefixes, isCreated: reply.status === 201 })
    if (reply.json?.nextCursor)
      this.cursors.push({
        operation: template.operation,
        reference: new ReplyReference(index, '/nextCursor', 'bm9uZQ.bm9uZQ'),
      })
    if (reply.headers.etag)
      this.etags.push({
        path: template.path.join(),
        reference: new ReplyReference(index, '/header/etag', '"1.none"'),
      })
    if (reply.json?.apiKey) this.apiKeys.push(new ReplyReference(index, '/apiKey', 'pgk_none'))
    if (template.method === 'DELETE' && reply.status === 200)
      for (const entry of template.entries) entry.isDeleted = true
    for (const list of [this.cursors, this.etags, this.apiKeys])
      if (list.length > MAX_REMEMBERED) list.shift()
  }

  #rememberIds(value, pointer, context) {
    if (typeof value !== 'object' || value === null) return
    const { index, side, prefixes, isCreated } = context
    for (const [name, member] of Object.entries(value)) {
      const kind =
        name === 'id' && typeof member === 'string' && prefixes.get(/^[a-z]+_/.exec(member)?.[0])
      if (!kind) this.#rememberIds(member, `${pointer}/${name}`, context)
      else if (!this.#knownIds.has(member) && (isCreated || !PROTECTED_KINDS.has(kind))) {
        this.#knownIds.add(member)
        const fallback = member.replace(/[^_]{20}$/, '0'.repeat(20))
        this.entriesOf(kind).push({
          kind,
          side,
          isDeleted: false,
          reference: new ReplyReference(index, `${pointer}/id`, fallback),
        })
      }
    }
  }

  entriesOf(kind) {
    if (!this.ids.has(kind)) this.ids.set(kind, [])
    return this.ids.get(kind)
  }
}

const parseJson = ({ headers, text }) => {
  if (!/json/.test(headers['content-type'] ?? '')) return undefined
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const toWellFormedText = (value) =>
  String(typeof value === 'object' ? JSON.stringify(value) : value).toWellFormed()

/** Replaces the characters that Node refuses in a header. */
const toHeaderText = (value) => String(value).replaceAll(/[^\x20-\x7e\x80-\xff]/g, '?')
