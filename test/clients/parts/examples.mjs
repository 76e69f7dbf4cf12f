// Runs every folder of examples/ against the service.
import assert from 'node:assert/strict'
import { spawnSync } from 'node:child_process'
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
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
  const receiver = await open({ PERIGEE_WEBHOOK_SECRET: secret })
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
  } finally {
    await receiver.stop()
    await call('DELETE', `/api/webhooks/${webhook.id}`)
  }
}

async function forward({ call, device, folder, open }) {
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
  const online = await open()
  try {
    for (const datagram of bad) socket.send(datagram, online.listening, '127.0.0.1')
    send(online, 20)
    await until('all positions', async () => (await locations()).length === before + 3)
    await until('an empty spool', () => readFileSync(spool).length === 0)
    assert.equal((await locations()).filter((one) => one.speed === 7.5).length, 3)
  } finally {
    socket.close()
    await online.stop()
  }
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
  const makeBroker = createRequire(join(folder, 'package.json'))('aedes')
  const broker = makeBroker()
  const server = createServer(broker.handle)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const published = new Map()
  broker.on('publish', ({ topic, payload, retain }) => {
    if (retain && payload.length > 0) published.set(topic, JSON.parse(payload.toString()))
  })
  const base = `homeassistant/device_tracker/${device.id}`
  const address = { MQTT_HOST: '127.0.0.1', MQTT_PORT: String(server.address().port) }
  const trackers = await open(address)
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
  } finally {
    await trackers.stop()
    server.close()
    await new Promise((resolve) => broker.close(resolve))
  }
}

async function showInGoogleEarth({ python, path, env, url, report }) {
  await report()
  const made = spawnSync(python, [path, 'North fleet'], { env, encoding: 'utf8', timeout: 60_000 })
  assert.equal(made.status, 0, made.stderr)
  // The service of the test has another address than the one it hands out.
  const read = async (address) => {
    const reply = await fetch(url + new URL(address).pathname)
    assert.equal(reply.status, 200, address)
    return new DOMParser().parseFromString(await reply.text(), 'text/xml')
  }
  const link = await read(JSON.parse(made.stdout).link)
  const [href] = link.getElementsByTagName('href')
  const names = kml(await read(href.textContent)).features.map((one) => one.properties.name)
  assert.ok(names.includes('Tern 7'), JSON.stringify(names))
}
