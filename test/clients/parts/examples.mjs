// Runs every folder of examples/ against the service.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createHmac } from 'node:crypto'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { createServer as createHttpServer } from 'node:http'
import { createRequire } from 'node:module'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { kml } from '@tmcw/togeojson'
import { DOMParser } from '@xmldom/xmldom'
import { start, until } from '../examples.mjs'
import { makeVenv } from '../python/venv.mjs'

const IDENTIFIER = '300434060000099'
const PLACE = { latitude: 38.7223, longitude: -9.1393 }
const BROKER = 'aedes@0.51.3'
const MAX_STORE_MS = 5000

const examples = {
  'webhook-receiver': receiveWebhook,
  gateway: forward,
  grafana: showInGrafana,
  'home-assistant': showInHomeAssistant,
  'google-earth': showInGoogleEarth,
}

export async function run({ url, root, folder, must, openAccount }) {
  const bin = makeVenv(folder)
  if (!bin) return
  const tools = [join(root, 'clients/python'), 'paho-mqtt==2.1.0', 'mypy==2.4.1']
  await must(join(bin, 'pip'), ['install', '--quiet', ...tools])
  await must('npm', ['install', '--silent', '--no-save', '--prefix', folder, BROKER])
  const folders = readdirSync(join(root, 'examples'), { withFileTypes: true })
  const names = folders.filter((one) => one.isDirectory()).map((one) => one.name)
  assert.deepEqual(names.sort(), Object.keys(examples).sort())

  const { userName, apiKey, call } = await openAccount({ userName: 'examples' })
  const body = { name: 'Tern 7', identifier: IDENTIFIER }
  const { device } = await call('POST', '/api/devices', body)
  const report = (more = {}) =>
    call('POST', `/api/devices/${device.id}/locations`, {
      dateTime: new Date().toISOString(),
      ...PLACE,
      speed: 12.5,
      battery: 80,
      ...more,
    })
  await report()
  await call('POST', `/api/devices/${device.id}/alerts`, { alertName: 'LowBattery' })
  const env = {
    ...process.env,
    PERIGEE_URL: url,
    PERIGEE_USER_NAME: userName,
    PERIGEE_API_KEY: apiKey,
    PORT: '0',
  }
  for (const [name, use] of Object.entries(examples)) {
    const source = join(root, 'examples', name)
    const script = readdirSync(source).find((file) => file.endsWith('.py'))
    await must(join(bin, 'mypy'), ['--strict', join(source, script)], { cwd: folder })
    const program = { python: join(bin, 'python'), path: join(source, script), source }
    const open = (more = {}) =>
      start(program.python, [program.path], { env: { ...env, ...more }, cwd: folder })
    await use({ ...program, env, folder, url, call, device, report, open })
    console.log(`${name}: passed`)
  }
}

async function receiveWebhook({ call, device, open }) {
  // The webhook needs an address and the receiver a secret: the address is changed afterwards.
  const wanted = { events: ['device.updated'], enabled: false, url: 'http://127.0.0.1:9' }
  const { webhook, secret } = await call('POST', '/api/webhooks', wanted)
  let receiver = await open({ PERIGEE_WEBHOOK_SECRET: secret })
  const shown = receiver.lines
  try {
    const address = `http://127.0.0.1:${receiver.listening}/`
    await call('PATCH', `/api/webhooks/${webhook.id}`, { url: address, enabled: true })
    await call('PATCH', `/api/devices/${device.id}`, { description: 'Received' })
    const event = await until('the event', () => receiver.lines[0])
    assert.equal(event.type, 'device.updated')
    assert.equal(event.data.deviceId, device.id)
    const forged = await fetch(address, { method: 'POST', body: '{"events":[]}' })
    assert.equal(forged.status, 401)
    const path = `/api/webhooks/${webhook.id}/deliveries`
    const deliveries = async () => (await call('GET', path)).deliveries
    const isDelivered = ({ status }) => status === 'delivered'
    const first = await until('the delivery', async () => (await deliveries()).find(isDelivered))
    await call('POST', `${path}/${first.id}/redeliver`)
    await until('the second call', async () => (await deliveries())[0].attemptsByHand > 0)
    assert.equal(receiver.lines.length, 1)
    await call('POST', `/api/webhooks/${webhook.id}/test`)
    const test = await until('the test event', () => receiver.lines[1])
    assert.equal(test.type, 'webhook.test')
    // A delivery that was given up is repeated by hand after later ones. Each comes twice.
    const { sequence } = event
    for (const one of [sequence + 9, sequence + 4, sequence + 9, sequence + 4])
      assert.equal(await postSigned(address, secret, [{ ...event, sequence: one }]), 204)
    await receiver.stop()
    receiver = await open({ PERIGEE_WEBHOOK_SECRET: secret })
    const again = `http://127.0.0.1:${receiver.listening}/`
    const sequences = [sequence, sequence + 4, sequence + 9, sequence + 2, 0]
    const events = sequences.map((one) => ({ ...event, sequence: one }))
    assert.equal(await postSigned(again, secret, events), 204)
    await until('the last event', () => receiver.lines.length === 2)
    const handled = [...shown, ...receiver.lines].map((one) => one.sequence)
    assert.deepEqual(handled, [sequence, 0, sequence + 9, sequence + 4, sequence + 2, 0])
  } finally {
    await receiver.stop()
    await call('DELETE', `/api/webhooks/${webhook.id}`)
  }
}

/** Calls a receiver as the service does, and returns the status. */
async function postSigned(address, secret, events) {
  const [id, time] = ['dlv_test', Math.floor(Date.now() / 1000)]
  const body = JSON.stringify({ events })
  const key = Buffer.from(secret.replace('whsec_', ''), 'base64')
  const signature = createHmac('sha256', key).update(`${id}.${time}.${body}`).digest('base64')
  const headers = {
    'webhook-id': id,
    'webhook-timestamp': String(time),
    'webhook-signature': `v1,${signature}`,
  }
  return (await fetch(address, { method: 'POST', headers, body })).status
}

async function forward({ call, device, folder, open, url }) {
  const socket = createSocket('udp4')
  const path = `/api/devices/${device.id}/locations?limit=1000`
  const locations = async () => (await call('GET', path)).locations
  const before = (await locations()).length
  const minutesAgo = (minutes) => new Date(Date.now() - minutes * 60_000).toISOString()
  const send = (gateway, minutes) =>
    socket.send(
      `${IDENTIFIER},${minutesAgo(minutes)},38.73,-9.14,7.5\n`,
      gateway.listening,
      '127.0.0.1',
    )
  const bad = ['not a position', `${IDENTIFIER},${minutesAgo(5)},nan,-9.14`, Buffer.of(0xff)]
  // A spool that a power cut has torn, and a key that is refused: 1000 positions are sent at once.
  const spool = join(folder, 'spool')
  const stored = { identifier: IDENTIFIER, dateTime: minutesAgo(40), ...PLACE, speed: 7.5 }
  const lines = Array(1000).fill(JSON.stringify(stored))
  writeFileSync(spool, ['{"latitude": NaN}', '12', '\0', ...lines, '{"identifier": "3'].join('\n'))
  const refused = await open({ PERIGEE_API_KEY: 'pgk_wrong' })
  await refused.stop()
  // A service that cannot be reached: the position stays in the spool.
  const offline = await open({ PERIGEE_URL: 'http://127.0.0.1:9' })
  const spooled = readFileSync(spool).length
  for (const datagram of bad) socket.send(datagram, offline.listening, '127.0.0.1')
  send(offline, 30)
  await until('the spool', () => readFileSync(spool).length > spooled)
  await offline.stop()
  const proxy = await openSilentProxy(url)
  const storeWhileSilent = async (gateway, minutes) => {
    const before = readFileSync(spool).length
    const sentAt = Date.now()
    send(gateway, minutes)
    await until('the spool', () => readFileSync(spool).length > before)
    assert.ok(Date.now() - sentAt < MAX_STORE_MS, `stored after ${Date.now() - sentAt} ms`)
  }
  // A service that does not answer: the position is stored at once, and SIGTERM ends the program.
  const silent = await open({ PERIGEE_URL: proxy.address })
  await until('the first request', () => proxy.requests === 1)
  await storeWhileSilent(silent, 25)
  const stoppedAt = Date.now()
  await silent.stop()
  assert.ok(Date.now() - stoppedAt < MAX_STORE_MS, 'SIGTERM ends the gateway')
  // It answers late: what was stored meanwhile stays in the spool and is sent next.
  const online = await open({ PERIGEE_URL: proxy.address })
  try {
    for (const datagram of bad) socket.send(datagram, online.listening, '127.0.0.1')
    await until('the second request', () => proxy.requests === 2)
    await storeWhileSilent(online, 20)
    proxy.answer()
    await until('all positions', async () => (await locations()).length === before + 4)
    await until('an empty spool', () => readFileSync(spool).length === 0)
    assert.equal((await locations()).filter((one) => one.speed === 7.5).length, 4)
  } finally {
    socket.close()
    await online.stop()
    proxy.close()
  }
}

/** Accepts requests, and answers none before `answer` is called. */
async function openSilentProxy(url) {
  const { promise: answered, resolve: answer } = Promise.withResolvers()
  const proxy = { requests: 0, answer }
  const server = createHttpServer(async (request, response) => {
    proxy.requests += 1
    const pieces = []
    for await (const piece of request) pieces.push(piece)
    await answered
    const { host, connection, 'content-length': _, ...headers } = request.headers
    const body = Buffer.concat(pieces)
    const reply = await fetch(url + request.url, { method: request.method, headers, body })
    response.writeHead(reply.status, { 'content-type': reply.headers.get('content-type') })
    response.end(await reply.text())
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  proxy.address = `http://127.0.0.1:${server.address().port}`
  proxy.close = () => {
    server.close()
    server.closeAllConnections()
  }
  return proxy
}

async function showInGrafana({ source, device, open }) {
  const bridge = await open()
  const dashboard = JSON.parse(readFileSync(join(source, 'dashboard.json'), 'utf8'))
  const queries = [
    ...dashboard.panels.flatMap(({ targets }) => targets),
    ...dashboard.templating.list.map(({ query }) => query.infinityQuery),
  ]
  const values = { __from: Date.now() - 3_600_000, __to: Date.now() + 60_000, device: device.id }
  try {
    assert.equal(queries.length, 5)
    for (const { url, columns } of queries) {
      const address = url
        .replace('http://127.0.0.1:9100', `http://127.0.0.1:${bridge.listening}`)
        .replaceAll(/\$\{(\w+)\}/g, (_, name) => values[name])
      const reply = await fetch(address)
      const rows = await reply.json()
      assert.equal(reply.status, 200, JSON.stringify(rows))
      assert.ok(rows.length > 0, address)
      for (const { selector } of columns) assert.ok(selector in rows[0], `${url} ${selector}`)
    }
    const wrong = await fetch(`http://127.0.0.1:${bridge.listening}/track?device=dev_none`)
    assert.equal(wrong.status, 400)
  } finally {
    await bridge.stop()
  }
  const offline = await open({ PERIGEE_URL: 'http://127.0.0.1:9' })
  try {
    const reply = await fetch(`http://127.0.0.1:${offline.listening}/devices`)
    assert.equal(reply.status, 502)
    assert.equal((await reply.json()).error, 'The service cannot be reached.')
  } finally {
    await offline.stop()
  }
}

async function showInHomeAssistant({ device, folder, open, report }) {
  let broker = await openBroker(folder)
  const { port, published } = broker
  const base = `homeassistant/device_tracker/${device.id}`
  const trackers = await open({ MQTT_HOST: '127.0.0.1', MQTT_PORT: String(port) })
  try {
    const config = published.get(`${base}/config`)
    assert.equal(config.device.name, 'Tern 7')
    assert.equal(config.json_attributes_topic, `${base}/attributes`)
    assert.equal(published.get(`${base}/attributes`).longitude, PLACE.longitude)
    // Events of locations are logged only while the stream is open: report until one arrives.
    let latitude = 40
    await until('the new position', async () => {
      latitude += 0.001
      await report({ latitude })
      return published.get(`${base}/attributes`).latitude > 40
    })
    // The broker restarts: positions during the outage and after it arrive.
    await broker.close()
    await report({ latitude: 50 })
    await new Promise((resolve) => setTimeout(resolve, 2000))
    broker = await openBroker(folder, port)
    const latitudeNow = () => broker.published.get(`${base}/attributes`)?.latitude
    await until('the position of the outage', () => latitudeNow() === 50)
    await report({ latitude: 51 })
    await until('the position after it', () => latitudeNow() === 51)
  } finally {
    await trackers.stop()
    await broker.close()
  }
}

async function openBroker(folder, port = 0) {
  const broker = createRequire(join(folder, 'package.json'))('aedes')()
  const sockets = new Set()
  const server = createServer((socket) => {
    sockets.add(socket)
    broker.handle(socket)
  })
  server.listen(port, '127.0.0.1')
  await once(server, 'listening')
  const published = new Map()
  broker.on('publish', ({ topic, payload, retain }) => {
    if (retain && payload.length > 0) published.set(topic, JSON.parse(payload.toString()))
  })
  const close = async () => {
    server.close()
    for (const socket of sockets) socket.destroy()
    await new Promise((resolve) => broker.close(resolve))
  }
  return { port: server.address().port, published, close }
}

async function showInGoogleEarth({ call, device, python, path, env, url, report }) {
  await report()
  const share = (...args) => {
    const made = spawnSync(python, [path, ...args], { env, encoding: 'utf8', timeout: 60_000 })
    assert.equal(made.status, 0, made.stderr)
    return JSON.parse(made.stdout).link
  }
  // The service of the test has another address than the one it hands out.
  const read = async (address) => {
    const reply = await fetch(url + new URL(address).pathname)
    assert.equal(reply.status, 200, address)
    return new DOMParser().parseFromString(await reply.text(), 'text/xml')
  }
  const group = await call('POST', '/api/groups', { name: 'North', devices: [device.id] })
  for (const more of [[], ['--group', group.id]]) {
    const link = await read(share('North fleet', ...more))
    const [href] = link.getElementsByTagName('href')
    const names = kml(await read(href.textContent)).features.map((one) => one.properties.name)
    assert.ok(names.includes('Tern 7'), JSON.stringify(names))
  }
}
