import { createECDH, randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { decryptPush } from '../../../test/browser/support/decryptPush.mjs'

/** The push service of browsers, outside the server's process. */
export async function startPushService() {
  const browsers = new Map()
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const browser = browsers.get(request.url)
    browser.payloads.push(JSON.parse(decryptPush(Buffer.concat(chunks), browser)))
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
