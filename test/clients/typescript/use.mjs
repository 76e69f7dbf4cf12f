// Uses the client as a program would, in any runtime. `client` is the module of the package.
export async function use({ client, url, userName, apiKey, runtime }) {
  const { Perigee, PerigeeError, verifyWebhook, WebhookError } = client
  let tokens = 0
  let lost = 0
  let isLosing = false
  /** Counts token requests, and loses replies of the service when asked to. */
  const countingFetch = async (request) => {
    if (request.url.endsWith('/api/Auth/Token')) tokens++
    const response = await globalThis.fetch(request)
    if (!isLosing || request.method === 'GET') return response
    isLosing = false
    lost++
    await response.arrayBuffer()
    throw new TypeError('The reply was lost.')
  }
  const perigee = new Perigee({ url, userName, apiKey, fetch: countingFetch })
  const identifier = `tern-${runtime}`

  // Concurrent callers share one token request.
  await Promise.all(Array.from({ length: 10 }, () => perigee.get('/api/account')))
  equal(tokens, 1, 'token requests')

  // A POST whose reply is lost is repeated with the same key, and makes one device.
  isLosing = true
  const name = `Tern ${runtime}`
  const { device } = await perigee.post('/api/devices', { body: { name, identifier } })
  equal(lost, 1, 'lost replies')
  const found = await collect(perigee.list('/api/devices', { query: { identifier, limit: 1 } }))
  equal(found.length, 1, 'devices after a repeated POST')
  const path = { deviceId: device.id }
  equal((await perigee.get('/api/devices/{deviceId}', { path })).device.name, name, 'name')

  // Lists are read page by page.
  const others = ['b', 'c', 'd'].map((one) => ({ name: `${name} ${one}` }))
  for (const body of others) await perigee.post('/api/devices', { body })
  const listed = await collect(perigee.list('/api/devices', { query: { q: name, limit: 2 } }))
  equal(listed.length, 4, 'devices in pages of two')

  // Problems are typed errors.
  const missing = await failure(perigee.get('/api/devices/{deviceId}', { path: { deviceId: 'x' } }))
  check(missing instanceof PerigeeError, 'a PerigeeError')
  equal([missing.status, missing.code], [404, 'device-not-found'], 'problem')
  check(missing.requestId, 'a request id')
  const invalid = await failure(perigee.post('/api/devices', { body: { name: '' } }))
  equal([invalid.status, invalid.errors[0].pointer], [400, '/name'], 'pointer')
  const offline = new Perigee({ url: 'http://127.0.0.1:9', userName, apiKey, retries: 0 })
  equal((await failure(offline.get('/api/account'))).status, 0, 'status without a reply')
  const wrong = new Perigee({ url, userName, apiKey: `${apiKey}0`, retries: 0 })
  equal((await failure(wrong.get('/api/account'))).status, 401, 'status with a wrong key')

  // A refused token is renewed once.
  const refusals = []
  const renewing = new Perigee({
    url,
    token: async (refused) => {
      refusals.push(refused)
      return refused
        ? (await perigee.post('/api/Auth/Token', { body: { userName, apiKey } })).token
        : 'old'
    },
  })
  await renewing.get('/api/account')
  equal(refusals, [undefined, 'old'], 'refused tokens')

  // Reports: one that is not valid and one of an unknown device hold back no others.
  const at = Date.now() - 3_600_000
  const location = (minute) => ({
    identifier,
    dateTime: new Date(at + minute * 60_000).toISOString(),
    latitude: 38.7 + minute / 1000,
    longitude: -9.1,
  })
  const count = 1500
  perigee.report(Array.from({ length: count }, (_, index) => location(index / 60)))
  perigee.report({ ...location(30), latitude: 91 })
  perigee.report({ ...location(31), identifier: `no-${identifier}` })
  equal(perigee.pending.length, count + 2, 'reports that wait')
  const summary = await perigee.flush()
  equal(summary.accepted, count, 'accepted')
  equal(summary.results.map(({ status }) => status).sort(), ['invalid', 'unknown'], 'results')
  equal(perigee.pending.length, 0, 'reports that wait after a flush')
  offline.report(location(40))
  equal((await failure(offline.flush())).status, 0, 'status of a flush without a reply')
  equal(offline.pending.length, 1, 'kept reports')
  offline.stop()

  // A range of more than one page, and as another format.
  const query = {
    from: new Date(at).toISOString(),
    to: new Date(at + 3_600_000).toISOString(),
  }
  const range = perigee.list('/api/devices/{deviceId}/locations', { path, query })
  equal((await collect(range)).length, count, 'locations of a range')
  const gpx = await perigee.get('/api/devices/{deviceId}/locations', {
    path,
    query: { ...query, format: 'gpx' },
    parseAs: 'text',
  })
  check(gpx.includes('<trkpt'), 'GPX')

  // The stream starts after a known event, and goes on with those that happen now.
  const { lastSequence } = await perigee.get('/api/events', { query: { limit: 1 } })
  const seen = []
  await perigee.patch('/api/devices/{deviceId}', { path, body: { name: `${name} e` } })
  const types = ['device.updated', 'device.deleted']
  for await (const event of perigee.stream({ types, after: lastSequence, devices: [device.id] })) {
    check(event.sequence > lastSequence, 'a later event')
    seen.push(event.type)
    if (seen.length > 1) break
    await perigee.delete('/api/devices/{deviceId}', { path })
  }
  equal(seen, types, 'events')
  const controller = new AbortController()
  const waiting = perigee.stream({ signal: controller.signal }).next()
  setTimeout(() => controller.abort(new Error('enough')), 500)
  equal((await failure(waiting)).message, 'enough', 'reason of an aborted stream')

  // Webhooks, signed as Standard Webhooks describes.
  const call = await signed({ events: [{ type: 'device.created' }] })
  equal((await verifyWebhook(call)).events[0].type, 'device.created', 'type of the event')
  const forged = { ...call, body: call.body.replace('created', 'deleted') }
  check((await failure(verifyWebhook(forged))) instanceof WebhookError, 'a WebhookError')
  const late = await signed({ events: [] }, Date.now() / 1000 - 600)
  check((await failure(verifyWebhook(late))) instanceof WebhookError, 'a late call refused')
}

async function signed(payload, seconds = Date.now() / 1000) {
  const secret = 'MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw'
  const body = JSON.stringify(payload)
  const [id, timestamp] = ['msg_1', String(Math.round(seconds))]
  const bytes = Uint8Array.from(atob(secret), (letter) => letter.charCodeAt(0))
  const algorithm = { name: 'HMAC', hash: 'SHA-256' }
  const key = await crypto.subtle.importKey('raw', bytes, algorithm, false, ['sign'])
  const content = new TextEncoder().encode(`${id}.${timestamp}.${body}`)
  const signature = new Uint8Array(await crypto.subtle.sign('HMAC', key, content))
  const headers = {
    'Webhook-Id': id,
    'Webhook-Timestamp': timestamp,
    'Webhook-Signature': `v1,AAAA v1,${btoa(String.fromCharCode(...signature))}`,
  }
  return { secret: [`whsec_${btoa('another secret')}`, `whsec_${secret}`], headers, body }
}

async function collect(rows) {
  const all = []
  for await (const row of rows) all.push(row)
  return all
}

function check(value, what) {
  if (!value) throw new Error(`Expected ${what}.`)
}

function equal(actual, expected, what) {
  if (JSON.stringify(actual) !== JSON.stringify(expected))
    throw new Error(`${what}: ${JSON.stringify(actual)}, expected ${JSON.stringify(expected)}`)
}

const failure = (promise) =>
  promise.then(
    () => {
      throw new Error('Expected a failure.')
    },
    (error) => error,
  )
