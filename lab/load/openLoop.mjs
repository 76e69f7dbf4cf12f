import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const TICK_MS = 5
const REPLY_TIMEOUT_MS = 60_000
/**
 * The runtime closes connections after five idle seconds, and a request sent just then is lost:
 * ours close first.
 */
const IDLE_TIMEOUT_MS = 3000

/**
 * Cloudflare keeps clients' connections itself and never sends an isolate so many requests at once.
 * Locally each is a file descriptor of the runtime, which ends when it runs out of them. A request
 * without a free connection waits, and the wait is measured.
 */
export const openConnections = () =>
  new Agent({ keepAlive: true, maxSockets: 2000, timeout: IDLE_TIMEOUT_MS })

const shared = openConnections()

/** Sends one request. Resolves with its status, or with the error as status 0. */
export function sendTimed(base, { method, path, headers, body, agent = shared }) {
  const { hostname, port } = new URL(base)
  const startedAt = performance.now()
  const elapsedMs = () => performance.now() - startedAt
  return new Promise((resolve) => {
    const length = body === undefined ? {} : { 'Content-Length': Buffer.byteLength(body) }
    const outgoing = request({
      hostname,
      port,
      method,
      path,
      agent,
      headers: { ...headers, ...length },
    })
    const fail = (error) =>
      resolve({ status: 0, error: error.code ?? error.message, elapsedMs: elapsedMs() })
    outgoing.setTimeout(REPLY_TIMEOUT_MS, () => outgoing.destroy(new Error('no reply')))
    outgoing.on('error', fail)
    outgoing.on('response', (incoming) => {
      incoming.on('error', fail)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode,
          retryAfter: incoming.headers['retry-after'],
          elapsedMs: elapsedMs(),
        }),
      )
      incoming.resume()
    })
    outgoing.end(body)
  })
}

/**
 * Sends requests at a fixed rate, whether or not replies come. Resolves after the last reply. With
 * `random` each is sent up to one interval later, so that two loops do not stay in phase.
 */
export async function runOpenLoop({ perSecond, seconds, next, onReply, random }) {
  const startedAt = performance.now()
  const elapsedSeconds = () => (performance.now() - startedAt) / 1000
  const total = Math.round(perSecond * seconds)
  const jitters = random && Array.from({ length: total }, () => random.next())
  const isDue = (index) => index + (jitters?.[index] ?? 0) + 1 <= elapsedSeconds() * perSecond
  const pending = new Set()
  let maxPending = 0
  for (let sent = 0; sent < total; ) {
    for (; sent < total && isDue(sent); sent++) {
      const request = next().then((outcome) => {
        pending.delete(request)
        onReply(outcome)
      })
      pending.add(request)
    }
    maxPending = Math.max(maxPending, pending.size)
    await sleep(TICK_MS)
  }
  const sendingSeconds = elapsedSeconds()
  await Promise.all(pending)
  return { sent: total, sentPerSecond: total / sendingSeconds, maxPending }
}
