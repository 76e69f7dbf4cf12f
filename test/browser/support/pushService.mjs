import { createECDH, createPublicKey, randomBytes, verify } from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from './browser.mjs'
import { decryptPush } from './decryptPush.mjs'

/* A push service on this machine, and the keys of a browser that is subscribed to it. */

/** The keys of a VAPID header, if its signature is right (RFC 8292). */
function readVapid(header, audience) {
  const [, token, key] = header.match(/^vapid t=([^,]+), ?k=([\w-]+)$/) ?? []
  if (!token) throw new Error(`no VAPID header: ${header}`)
  const point = Buffer.from(key, 'base64url')
  const jwk = {
    kty: 'EC',
    crv: 'P-256',
    x: point.subarray(1, 33).toString('base64url'),
    y: point.subarray(33).toString('base64url'),
  }
  const [head, claims, signature] = token.split('.')
  const isSigned = verify(
    'sha256',
    Buffer.from(`${head}.${claims}`),
    { key: createPublicKey({ key: jwk, format: 'jwk' }), dsaEncoding: 'ieee-p1363' },
    Buffer.from(signature, 'base64url'),
  )
  const { aud, exp } = JSON.parse(Buffer.from(claims, 'base64url'))
  if (!isSigned || aud !== audience || exp * 1000 < Date.now())
    throw new Error(`the token is not valid: ${aud}, ${exp}`)
  return key
}

export class PushService {
  received = []
  faults = []
  #browser = { ecdh: createECDH('prime256v1'), auth: randomBytes(16) }
  #server = createServer((request, response) => void this.#take(request, response))

  static async start() {
    const service = new PushService()
    service.#browser.ecdh.generateKeys()
    await new Promise((resolve) => service.#server.listen(0, '127.0.0.1', resolve))
    service.origin = `http://127.0.0.1:${service.#server.address().port}`
    return service
  }

  stop() {
    this.#server.close()
  }

  /** What a browser's `PushSubscription` says of itself. */
  get subscription() {
    return {
      endpoint: `${this.origin}/push/browser`,
      expirationTime: null,
      keys: {
        p256dh: this.#browser.ecdh.getPublicKey('base64url'),
        auth: this.#browser.auth.toString('base64url'),
      },
    }
  }

  /** The first push that came and is wanted. */
  async find(isWanted) {
    const deadline = Date.now() + PATIENCE_MS
    while (Date.now() < deadline) {
      const found = this.received.find(({ payload }) => isWanted(payload))
      if (found) return found
      await sleep(100)
    }
    throw new Error(`no such push; ${this.received.length} came. ${this.faults.join('; ')}`)
  }

  async #take(request, response) {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    try {
      const key = readVapid(request.headers.authorization ?? '', this.origin)
      const payload = JSON.parse(decryptPush(Buffer.concat(chunks), this.#browser))
      this.received.push({ headers: request.headers, key, payload })
      response.writeHead(201).end()
    } catch (fault) {
      this.faults.push(fault.message)
      response.writeHead(400).end()
    }
  }
}
