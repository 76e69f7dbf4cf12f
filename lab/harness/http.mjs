import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 512 })

/**
 * Sends one request on a kept connection. Not `fetch`, which costs more than what is measured and
 * corrects paths and headers that must arrive as they are.
 */
export function send(base, path, options = {}) {
  const {
    method = 'GET',
    headers = {},
    body,
    chunked = false,
    timeoutMs = 30_000,
    reuseConnection = true,
  } = options
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    // Set for every method: Node leaves a GET's body unframed, and the server would read it as the
    // next request.
    const framing = chunked
      ? { 'Transfer-Encoding': 'chunked' }
      : { 'Content-Length': Buffer.byteLength(body ?? '') }
    const outgoing = request({
      hostname,
      port,
      path,
      method,
      agent: reuseConnection && agent,
      headers: { ...headers, ...(body !== undefined && framing) },
    })
    outgoing.setTimeout(timeoutMs, () =>
      outgoing.destroy(new Error(`no reply within ${timeoutMs / 1000} s`)),
    )
    outgoing.on('error', (error) => {
      // The server closes a connection whose last body it did not read: try again on a new one.
      if (reuseConnection && outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code))
        resolve(send(base, path, { ...options, reuseConnection: false }))
      else reject(error)
    })
    outgoing.on('response', (incoming) => {
      const reply = { status: incoming.statusCode, headers: incoming.headers }
      // An event stream never ends.
      if (incoming.headers['content-type']?.startsWith('text/event-stream')) {
        incoming.destroy()
        return resolve({ ...reply, text: '' })
      }
      const chunks = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('error', reject)
      incoming.on('end', () => resolve({ ...reply, text: Buffer.concat(chunks).toString() }))
    })
    outgoing.end(body)
  })
}

/** Returns a function that sends and reads JSON, and throws on any status but 2xx. */
export const caller = (base, token) => {
  return async (method, path, body, headers = {}) => {
    const reply = await send(base, path, {
      method,
      body: body === undefined ? undefined : JSON.stringify(body),
      headers: {
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
        ...(token && { Authorization: `Bearer ${token}` }),
        ...headers,
      },
    })
    if (reply.status >= 300)
      throw new Error(`${method} ${path}: ${reply.status} ${reply.text.slice(0, 500)}`)
    return JSON.parse(reply.text)
  }
}

/** Opens an account as the operator and gets a token for it. */
export async function openAccount(base, adminToken, members) {
  const { userName } = members
  const { account, apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
    name: userName,
    timeZone: 'UTC',
    ...members,
  })
  const token = await getToken(base, userName, apiKey)
  return { id: account.id, userName, apiKey, token, call: caller(base, token) }
}

export const getToken = async (base, userName, apiKey) =>
  (await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })).token

/** Reads every page of a list. */
export async function listAll(call, path, member) {
  const items = []
  const separator = path.includes('?') ? '&' : '?'
  for (let cursor = ''; cursor !== null; ) {
    const from = cursor && `&cursor=${encodeURIComponent(cursor)}`
    const page = await call('GET', `${path}${separator}limit=1000${from}`)
    items.push(...page[member])
    cursor = page.nextCursor
  }
  return items
}
