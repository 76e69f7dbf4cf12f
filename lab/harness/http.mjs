import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 512 })
const PATIENCE = 30_000

/**
 * One request on a connection that is kept. Not fetch: that costs more than what is measured, and mends paths and headers
 * that are meant to arrive as they are.
 */
export function send(base, path, options = {}) {
  const {
    method = 'GET',
    headers = {},
    body,
    chunked = false,
    patience = PATIENCE,
    again = true,
  } = options
  const { hostname, port } = new URL(base)
  return new Promise((resolve, reject) => {
    // Said for every method: Node frames a GET's body in neither way, and it would pass for the next request.
    const framing = chunked
      ? { 'Transfer-Encoding': 'chunked' }
      : { 'Content-Length': Buffer.byteLength(body ?? '') }
    const outgoing = request({
      hostname,
      port,
      path,
      method,
      agent: again && agent,
      headers: { ...headers, ...(body !== undefined && framing) },
    })
    outgoing.setTimeout(patience, () =>
      outgoing.destroy(new Error(`no answer within ${patience / 1000} s`)),
    )
    outgoing.on('error', (error) => {
      // The server closes a connection whose last body it did not read; one that was kept may turn out closed.
      if (again && outgoing.reusedSocket && ['ECONNRESET', 'EPIPE'].includes(error.code))
        resolve(send(base, path, { ...options, again: false }))
      else reject(error)
    })
    outgoing.on('response', (incoming) => {
      const reply = { status: incoming.statusCode, headers: incoming.headers }
      // A stream has no end to wait for.
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

/** A caller that speaks JSON, for setting the scene: whatever is not a 2xx is an error. */
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
