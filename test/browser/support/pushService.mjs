import {
  createDecipheriv,
  createECDH,
  createPublicKey,
  hkdfSync,
  randomBytes,
  verify,
} from 'node:crypto'
import { createServer } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { PATIENCE_MS } from './browser.mjs'

/* A push service on this machine, and the keys of a browser that is subscribed to it. */

const derive = (secret, salt, info, length) =>
  Buffer.from(hkdfSync('sha256', secret, salt, info, length))

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
  #browser = createECDH('prime256v1')
  #auth = randomBytes(16)
  #server = createServer((request, response) => void this.#take(request, response))

  static async start() {
    const service = new PushService()
    service.#browser.generateKeys()
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
        p256dh: this.#browser.getPublicKey('base64url'),
        auth: this.#auth.toString('base64url'),
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
      const payload = JSON.parse(this.#decrypt(Buffer.concat(chunks)))
      this.received.push({ headers: request.headers, key, payload })
      response.writeHead(201).end()
    } catch (fault) {
      this.faults.push(fault.message)
      response.writeHead(400).end()
    }
  }

  /** RFC 8291: one record of `aes128gcm`, whose key is agreed on by ECDH. */
  #decrypt(body) {
    const salt = body.subarray(0, 16)
    const keyEnd = 21 + body[20]
    const sender = body.subarray(21, keyEnd)
    const info = Buffer.concat([
      Buffer.from('WebPush: info\0'),
      this.#browser.getPublicKey(),
      sender,
    ])
    const secret = derive(this.#browser.computeSecret(sender), this.#auth, info, 32)
    const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
    const nonce = derive(secret, salt, 'Content-Encoding: nonce\0', 12)
    const decipher = createDecipheriv('aes-128-gcm', key, nonce)
    decipher.setAuthTag(body.subarray(-16))
    const padded = Buffer.concat([decipher.update(body.subarray(keyEnd, -16)), decipher.final()])
    return padded.subarray(0, padded.lastIndexOf(2)).toString()
  }
}
