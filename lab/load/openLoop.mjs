import { Agent, request } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'

const TICK = 5
const PATIENCE = 60_000
/** The runtime closes a connection that was idle for five seconds; whoever sends on it just then loses a request that was never read. */
const IDLE = 3000

/**
 * More than an isolate is ever sent at once on Cloudflare, which keeps clients' connections itself; locally each is a file of the runtime, and it
 * ends where it has no more. What finds none free waits, and its time runs.
 */
const agent = new Agent({ keepAlive: true, maxSockets: 2000, timeout: IDLE })

/** One request; answers its status, or why there is none. */
export function ask(base, { method, path, headers, body }) {
  const { hostname, port } = new URL(base)
  const began = performance.now()
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
    const failed = (error) =>
      resolve({ status: 0, error: error.code ?? error.message, took: performance.now() - began })
    outgoing.setTimeout(PATIENCE, () => outgoing.destroy(new Error('no answer')))
    outgoing.on('error', failed)
    outgoing.on('response', (incoming) => {
      incoming.on('error', failed)
      incoming.on('end', () =>
        resolve({
          status: incoming.statusCode,
          retryAfter: incoming.headers['retry-after'],
          took: performance.now() - began,
        }),
      )
      incoming.resume()
    })
    outgoing.end(body)
  })
}

/** Asks at a fixed rate for so many seconds, whether or not answers come. Resolves when the last has been answered. */
export async function openLoop({ perSecond, seconds, next, answered }) {
  const began = performance.now()
  const total = Math.round(perSecond * seconds)
  const underWay = new Set()
  let most = 0
  for (let sent = 0; sent < total; ) {
    const due = Math.min(total, Math.floor(((performance.now() - began) / 1000) * perSecond))
    for (; sent < due; sent++) {
      const one = next().then((outcome) => {
        underWay.delete(one)
        answered(outcome)
      })
      underWay.add(one)
    }
    most = Math.max(most, underWay.size)
    await sleep(TICK)
  }
  const asked = (performance.now() - began) / 1000
  await Promise.all(underWay)
  return { sent: total, offered: total / asked, most }
}
