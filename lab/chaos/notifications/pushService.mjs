import { createDecipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'

/** The text of an encrypted body: RFC 8291 and 8188. */
const decrypt = (body, { ecdh, auth }) => {
  const salt = body.subarray(0, 16)
  const keyEnd = 21 + body[20]
  const sender = body.subarray(21, keyEnd)
  const derive = (secret, salt, info, length) =>
    Buffer.from(hkdfSync('sha256', secret, salt, info, length))
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), ecdh.getPublicKey(), sender])
  const secret = derive(ecdh.computeSecret(sender), auth, info, 32)
  const key = derive(secret, salt, 'Content-Encoding: aes128gcm\0', 16)
  const iv = derive(secret, salt, 'Content-Encoding: nonce\0', 12)
  const decipher = createDecipheriv('aes-128-gcm', key, iv)
  decipher.setAuthTag(body.subarray(-16))
  const plain = Buffer.concat([decipher.update(body.subarray(keyEnd, -16)), decipher.final()])
  // The last byte ends the record.
  return plain.subarray(0, -1).toString()
}

/** The push service of browsers, outside the server's process. */
export async function startPushService() {
  const browsers = new Map()
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const browser = browsers.get(request.url)
    browser.payloads.push(JSON.parse(decrypt(Buffer.concat(chunks), browser)))
    await browser.beforeReply()
    response.writeHead(browser.status).end()
    browser.afterReply()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const base = `http://127.0.0.1:${server.address().port}`
  return {
    /** A browser that has subscribed, with what the service does when it is sent something. */
    makeBrowser() {
      const ecdh = createECDH('prime256v1')
      ecdh.generateKeys()
      const auth = randomBytes(16)
      const path = `/${browsers.size}`
      const keys = { p256dh: ecdh.getPublicKey('base64url'), auth: auth.toString('base64url') }
      const browser = {
        ecdh,
        auth,
        subscription: { endpoint: `${base}${path}`, expirationTime: null, keys },
        status: 201,
        payloads: [],
        beforeReply: async () => {},
        afterReply: () => {},
      }
      browsers.set(path, browser)
      return browser
    },
    close: () => server.closeAllConnections() ?? server.close(),
  }
}
