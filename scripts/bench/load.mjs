import { Agent, request } from 'node:http'

const agent = new Agent({ keepAlive: true, maxSockets: 64 })

/** One request on a connection that is kept; undici's fetch would cost more than what is measured. */
export function send(url, { method = 'GET', headers = {}, body } = {}) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, {
      method,
      agent,
      headers: body === undefined ? headers : { ...headers, 'Content-Length': Buffer.byteLength(body) },
    })
    outgoing.on('error', reject)
    outgoing.on('response', (incoming) => {
      const chunks = []
      incoming.on('data', (chunk) => chunks.push(chunk))
      incoming.on('end', () => resolve({ status: incoming.statusCode, text: Buffer.concat(chunks).toString() }))
      incoming.on('error', reject)
    })
    outgoing.end(body)
  })
}

/** Requests a second, `lanes` of them at a time. */
export async function rate(milliseconds, lanes, next) {
  const ends = performance.now() + milliseconds
  let done = 0
  const began = performance.now()
  await Promise.all(
    Array.from({ length: lanes }, async () => {
      while (performance.now() < ends) {
        await next()
        done++
      }
    }),
  )
  return done / ((performance.now() - began) / 1000)
}

export const median = (values) => values.toSorted((a, b) => a - b)[values.length >> 1]
