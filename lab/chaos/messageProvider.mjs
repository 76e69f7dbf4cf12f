import { once } from 'node:events'
import { createServer } from 'node:http'

/**
 * An e-mail and SMS provider outside the server's process, so that it survives every crash. Like
 * Resend it sends once per Idempotency-Key; like Twilio it has no such key, but lists what it has
 * sent.
 */
export async function startMessageProvider() {
  const emails = new Map()
  const texts = []
  const server = createServer(async (request, response) => {
    const chunks = []
    for await (const chunk of request) chunks.push(chunk)
    const body = Buffer.concat(chunks).toString()
    const respond = (status, reply) =>
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(reply))
    if (request.url === '/emails') {
      const key = request.headers['idempotency-key']
      if (!emails.has(key)) emails.set(key, { id: `email-${emails.size}`, ...JSON.parse(body) })
      return respond(200, { id: emails.get(key).id })
    }
    const url = new URL(request.url, 'http://localhost')
    if (request.method === 'GET')
      return respond(200, { messages: texts.filter(({ to }) => to === url.searchParams.get('To')) })
    const form = new URLSearchParams(body)
    const sent = {
      sid: `SM${texts.length}`,
      to: form.get('To'),
      body: form.get('Body'),
      status: 'queued',
      date_created: new Date().toUTCString(),
    }
    texts.push(sent)
    return respond(201, sent)
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${server.address().port}`
  return {
    emails,
    texts,
    /** Configures the Worker to send through this provider. */
    vars: {
      EMAIL_PROVIDER: 'resend',
      EMAIL_FROM: 'alerts@example.com',
      RESEND_API_KEY: 'chaos',
      RESEND_URL: url,
      SMS_PROVIDER: 'twilio',
      TWILIO_ACCOUNT_SID: 'AC0',
      TWILIO_AUTH_TOKEN: 'chaos',
      TWILIO_FROM: '+15550000000',
      TWILIO_URL: url,
      SEND_TIMEOUT_MS: '2000',
    },
    close: () => server.closeAllConnections() ?? server.close(),
  }
}
