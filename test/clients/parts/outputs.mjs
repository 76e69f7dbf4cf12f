// Reads the formats of webhooks with readers of others: Cursor on Target, MQTT, EarthRanger, Gundi.
import assert from 'node:assert/strict'
import { execFileSync } from 'node:child_process'
import { once } from 'node:events'
import { createServer } from 'node:http'
import { createRequire } from 'node:module'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { until } from '../examples.mjs'
import { makeVenv } from '../python/venv.mjs'

const PACKAGES = ['aedes@0.51.3', 'ws@8.18.3', '@tak-ps/node-cot@12.23.0']
const PYTHON_PACKAGES = ['earthranger-client==1.19.0', 'gundi-core==1.14.0']
const IDENTIFIER = '300434060000042'
const PLACE = { latitude: 38.25, longitude: -9.5 }
const FORMATS = ['cot', 'traccar', 'earthranger', 'gundi', 'naf']
const PASSWORD = 'correct-horse'

/** Records what arrives, by the path of the address. */
async function listen() {
  const calls = []
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    calls.push({ format: request.url.slice(1), body, headers: request.headers })
    response.end()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const bodies = (format) => calls.filter((one) => one.format === format).map(({ body }) => body)
  return { server, bodies, port: server.address().port }
}

/** A broker that asks for a user name and password. */
async function openBroker(folder) {
  const load = createRequire(join(folder, 'package.json'))
  const { WebSocketServer, createWebSocketStream } = load('ws')
  const broker = load('aedes')({
    authenticate: (_client, userName, password, done) =>
      done(null, userName === 'perigee' && String(password) === PASSWORD),
  })
  const server = createServer()
  const protocols = []
  const sockets = new WebSocketServer({ server })
  sockets.on('connection', (socket) => {
    protocols.push(socket.protocol)
    broker.handle(createWebSocketStream(socket))
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const published = []
  broker.on('publish', ({ topic, payload, qos }, client) => {
    if (client) published.push({ topic, qos, ...JSON.parse(payload.toString()) })
  })
  const close = async () => {
    await new Promise((resolve) => broker.close(resolve))
    server.close()
  }
  return { close, published, protocols, sockets, url: `ws://127.0.0.1:${server.address().port}/` }
}

export async function run({ folder, must, openAccount }) {
  const bin = makeVenv(folder)
  await Promise.all([
    must('npm', ['install', '--silent', '--no-save', '--prefix', folder, ...PACKAGES]),
    bin && must(join(bin, 'pip'), ['install', '--quiet', ...PYTHON_PACKAGES]),
  ])
  const { call } = await openAccount({ userName: 'outputs' })
  const { device } = await call('POST', '/api/devices', {
    name: 'Tern <7>',
    identifier: IDENTIFIER,
    tags: { callSign: 'CSAB7' },
  })
  const receiver = await listen()
  const broker = await openBroker(folder)
  try {
    const events = ['location.*', 'alert.*']
    const create = async (format, url, settings) =>
      (await call('POST', '/api/webhooks', { url, format, settings, events })).webhook
    for (const format of FORMATS)
      await create(format, `http://127.0.0.1:${receiver.port}/${format}`, {})
    const topic = 'fleet/{device}/{name}'
    const settings = { topic, userName: 'perigee', token: PASSWORD }
    const mqtt = await create('mqtt', broker.url, settings)
    assert.deepEqual(mqtt.settings, { topic, userName: 'perigee', token: null })
    await call('POST', `/api/devices/${device.id}/locations`, {
      dateTime: new Date().toISOString(),
      ...PLACE,
      speed: 36,
      course: 90,
    })
    const alert = { alertName: 'SOSButton', text: 'Help & hurry', ...PLACE }
    await call('POST', `/api/devices/${device.id}/alerts`, alert)
    await until('everything', () => {
      const isMissing = (format) => receiver.bodies(format).length < (format === 'naf' ? 1 : 2)
      return !FORMATS.some(isMissing) && broker.published.length >= 2
    })
    await checkCot(folder, receiver.bodies('cot'))
    checkTraccar(receiver.bodies('traccar').map((body) => JSON.parse(body)))
    checkMqtt(broker)
    await checkWrongPassword(call, mqtt)
    await checkBadBrokers(folder, call, mqtt)
    await until('closed sockets', () => broker.sockets.clients.size === 0)
    assert.match(receiver.bodies('naf')[0], /^\/\/SR\/\/.*\/\/RC\/CSAB7\/\/.*\/\/ER\/\/$/)
    if (bin) checkPython(join(bin, 'python'), receiver)
    else console.log('Skipped EarthRanger and Gundi: this machine has no python3 with venv.')
  } finally {
    receiver.server.close()
    await broker.close()
  }
}

async function checkCot(folder, bodies) {
  const entry = join(folder, 'node_modules/@tak-ps/node-cot/dist/index.js')
  const { default: CoT } = await import(pathToFileURL(entry))
  const read = bodies.map((body) => new CoT(body).to_geojson())
  const types = read.map(({ properties }) => properties.type).sort()
  assert.deepEqual(types, ['a-f-G', 'b-a-o-tbl'])
  for (const { geometry } of read)
    assert.deepEqual(geometry.coordinates.slice(0, 2), [PLACE.longitude, PLACE.latitude])
  const position = read.find(({ properties }) => properties.type === 'a-f-G').properties
  assert.equal(position.callsign, 'Tern <7>')
  assert.equal(Number(position.course), 90)
  assert.equal(Number(position.speed), 10)
}

/** The members that Traccar's own receivers need. */
function checkTraccar(bodies) {
  for (const { position, device } of bodies) {
    assert.equal(device.uniqueId, IDENTIFIER)
    assert.deepEqual([position.latitude, position.longitude], [PLACE.latitude, PLACE.longitude])
    for (const name of ['serverTime', 'deviceTime', 'fixTime'])
      assert.ok(Date.parse(position[name]), name)
  }
  assert.deepEqual(
    bodies.flatMap(({ event }) => event?.attributes.alarm ?? []),
    ['sos'],
  )
}

function checkMqtt({ published, protocols }) {
  for (const { topic, qos, latitude, longitude } of published) {
    assert.equal(topic, `fleet/${IDENTIFIER}/Tern <7>`)
    assert.deepEqual([qos, latitude, longitude], [1, PLACE.latitude, PLACE.longitude])
  }
  assert.ok(published.some(({ speed, alert }) => speed === 36 && !alert))
  assert.ok(published.some(({ alert }) => alert?.emergency && alert.text === 'Help & hurry'))
  assert.ok(protocols.every((protocol) => protocol === 'mqtt'))
}

async function checkWrongPassword(call, { id }) {
  const tested = async () => (await call('POST', `/api/webhooks/${id}/test`)).delivery
  assert.equal((await tested()).status, 'delivered')
  await call('PATCH', `/api/webhooks/${id}`, { settings: { token: 'wrong' } })
  const { status, failure, answer } = await tested()
  assert.deepEqual([status, failure], ['failed', 'status'])
  assert.match(answer, /^CONNACK [45]/)
}

/** What a broker must not do: each delivery fails at once, and its socket is closed. */
const BAD_BROKERS = {
  /** Answers 403 instead of opening a socket. */
  refuse: () => {},
  text: (socket) => socket.send('hello'),
  flood: (socket) => socket.send(new Uint8Array(100_000)),
  endless: (socket) => socket.send(new Uint8Array([0x20, 255, 255, 255, 255, 1])),
  close: (socket) => socket.close(),
  break: (socket) => socket.terminate(),
  unconfirmed: (socket, count) =>
    socket.send(new Uint8Array(count === 1 ? [0x20, 2, 0, 0] : [0x40, 2, 0, 9])),
}

async function checkBadBrokers(folder, call, { id }) {
  const { WebSocketServer } = createRequire(join(folder, 'package.json'))('ws')
  const verifyClient = ({ req }, answer) => answer(req.url !== '/refuse', 403)
  const sockets = new WebSocketServer({ port: 0, host: '127.0.0.1', verifyClient })
  await once(sockets, 'listening')
  sockets.on('connection', (socket, { url }) => {
    let count = 0
    socket.on('message', () => {
      count += 1
      BAD_BROKERS[url.slice(1)](socket, count)
    })
  })
  try {
    for (const name of Object.keys(BAD_BROKERS)) {
      const url = `ws://127.0.0.1:${sockets.address().port}/${name}`
      await call('PATCH', `/api/webhooks/${id}`, { url })
      const { delivery } = await call('POST', `/api/webhooks/${id}/test`)
      const accepted = name === 'unconfirmed' ? name : 'unreachable'
      const failure = name === 'refuse' ? 'status' : accepted
      assert.deepEqual([name, delivery.failure], [name, failure])
    }
    await until('closed sockets', () => sockets.clients.size === 0)
  } finally {
    sockets.close()
  }
}

/** EarthRanger's client sends what it has cleaned; Gundi's has a model. */
function checkPython(python, { bodies }) {
  const script = `
import json, sys
from erclient import ERClient
from gundi_core.schemas.v2 import Observation
given = json.load(sys.stdin)
client = ERClient(service_root='http://127.0.0.1:9/api/v1.0', token='none', provider_key='perigee')
posted = []
client._post = lambda path, payload, **_: posted.append((path, json.loads(json.dumps(payload))))
for body in given['earthranger']:
    client.post_sensor_observation(json.loads(body))
for path, observations in posted:
    assert path == 'sensors/generic/perigee/status', path
    for one in observations:
        assert one['manufacturer_id'] == '${IDENTIFIER}' and one['location']['lat'] == ${PLACE.latitude}
assert len(posted) == 2, posted
for body in given['gundi']:
    for one in json.loads(body):
        read = Observation.parse_obj({**one, 'external_source_id': one['source']})
        assert read.location.lon == ${PLACE.longitude} and read.recorded_at.tzinfo, read
        assert read.source_name == 'Tern <7>' and read.type == 'tracking-device', read
`
  const input = JSON.stringify({ earthranger: bodies('earthranger'), gundi: bodies('gundi') })
  execFileSync(python, ['-c', script], { input, stdio: ['pipe', 'inherit', 'inherit'] })
}
