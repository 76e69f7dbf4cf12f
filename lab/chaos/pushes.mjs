import { setTimeout as sleep } from 'node:timers/promises'
import { listAll, send } from '../harness/http.mjs'

/*
 * Providers push to sources while the server is killed. A provider sends again what it got no yes
 * for, and never what it did: each push must be there once, also of identifiers that are claimed in
 * between.
 */

const CLIENTS = 4
const IDENTIFIERS_PER_CLIENT = 4
const REPLY_TIMEOUT_MS = 30_000
const REPEAT_TIMEOUT_MS = 90_000
/** The sweep of alerts passes over those of the last half minute. */
const SWEEP_AHEAD_MS = 60_000
const KINDS = { fix: 6, message: 3, sos: 1, quarantined: 1 }
/** Younger than an hour to the end of the run: alerts that are late when claimed open no emergency. */
const pushesFrom = Date.now() - 20 * 60_000
const WRONG_CLOCK_MS = 3 * 86_400_000
let lastNumber = 0

const POINT = { latitude: 38.7, longitude: -9.1, altitude: 0, gpsFix: 2, course: 0, speed: 0 }

/** What a device must have, by what its provider was answered. */
const expectedOf = (identifier) => ({
  identifier,
  id: null,
  times: new Set(),
  quarantined: new Set(),
  messages: new Set(),
  emergencies: new Set(),
})

/** One push of one event. Times are a second apart, so that no two are the same. */
function makePush(expected, random) {
  const kind = random.pickWeighted(KINDS)
  const offset = kind === 'quarantined' ? WRONG_CLOCK_MS : 0
  const timeStamp = pushesFrom + offset + ++lastNumber * 1000
  const dateTime = new Date(timeStamp).toISOString()
  const text = `message ${lastNumber}`
  const event = {
    imei: expected.identifier,
    messageCode: kind === 'sos' ? 4 : kind === 'message' ? 3 : 0,
    timeStamp,
    ...(kind === 'message' && { freeText: text }),
    point: POINT,
    status: { lowBattery: 0 },
  }
  return {
    body: JSON.stringify({ Version: '2.0', Events: [event] }),
    acknowledge() {
      if (kind === 'quarantined') expected.quarantined.add(dateTime)
      else expected.times.add(dateTime)
      if (kind === 'message') expected.messages.add(text)
      if (kind === 'sos') expected.emergencies.add(dateTime)
    },
  }
}

const post = (base, path, body, headers = {}) =>
  send(base, path, {
    method: 'POST',
    headers: { 'Content-Type': 'application/json', ...headers },
    body,
    reuseConnection: false,
    timeoutMs: REPLY_TIMEOUT_MS,
  }).catch(() => null)

/** Sends until the yes. Returns how often that took. */
async function deliver(run, path, push) {
  const deadline = Date.now() + REPEAT_TIMEOUT_MS
  for (let tries = 1; Date.now() < deadline; tries++) {
    await run.restarted
    const reply = await post(run.server.base, path, push.body)
    if (reply?.status === 200) {
      push.acknowledge()
      run.acknowledged++
      return tries
    }
    if (reply && reply.status < 500 && reply.status !== 404)
      throw new Error(`a push got ${reply.status} ${reply.text}`)
    await sleep(200)
  }
  throw new Error('a push never got its yes')
}

/** Claims an identifier for a new device, with a key, until there is a reply. */
async function claim(run, expected) {
  const path = `/api/sources/${run.sourceId}/unclaimed/${expected.identifier}/claim`
  const headers = {
    Authorization: `Bearer ${run.token}`,
    'Idempotency-Key': `claim-${expected.identifier}`,
  }
  const body = JSON.stringify({ device: { name: expected.identifier } })
  const deadline = Date.now() + REPEAT_TIMEOUT_MS
  while (Date.now() < deadline) {
    await run.restarted
    const reply = await post(run.server.base, path, body, headers)
    if (reply?.status === 200) {
      expected.id = JSON.parse(reply.text).device.id
      run.claims++
      return
    }
    const isTemporary = !reply || reply.status >= 500 || /request-in-progress/.test(reply.text)
    if (!isTemporary) throw new Error(`a claim got ${reply.status} ${reply.text}`)
    await sleep(1000)
  }
  throw new Error('a claim never got a reply')
}

export async function runPushes({ server, account, kills, random, progress }) {
  const { source, url } = await account.call('POST', '/api/sources', {
    name: 'Chaos',
    provider: 'garmin',
  })
  const run = {
    server,
    token: account.token,
    sourceId: source.id,
    devices: [],
    acknowledged: 0,
    repeated: 0,
    claims: 0,
    restarted: Promise.resolve(),
  }
  const path = new URL(url).pathname
  let isRunning = true

  const client = async (number) => {
    const own = []
    for (let index = 0; index < IDENTIFIERS_PER_CLIENT; index++) {
      const expected = expectedOf(`3004340${number}000000${index}`)
      // Half of them are known from the start, the others are claimed later.
      if (index % 2 === 0) {
        const body = { name: expected.identifier, identifier: expected.identifier }
        expected.id = (await account.call('POST', '/api/devices', body)).device.id
      }
      own.push(expected)
      run.devices.push(expected)
    }
    while (isRunning) {
      const expected = random.pick(own)
      const tries = await deliver(run, path, makePush(expected, random))
      if (tries > 1) run.repeated++
      if (expected.id === null && random.chance(0.05)) await claim(run, expected)
    }
    for (const expected of own) {
      if (expected.id !== null) continue
      await deliver(run, path, makePush(expected, random))
      await claim(run, expected)
    }
  }

  const opened = run.acknowledged
  const clients = Promise.all(Array.from({ length: CLIENTS }, (_, number) => client(number)))
  // A client that fails must not leave the kills waiting.
  let failure = null
  clients.catch((error) => {
    failure = error
  })
  await waitForMore(run, opened, 20, () => failure)
  for (let kill = 1; kill <= kills && !failure; kill++) {
    await waitForMore(run, run.acknowledged, random.int(5, 40), () => failure)
    run.restarted = server.kill().then(() => server.start())
    await run.restarted
    progress(`${kill} of ${kills} kills, ${run.acknowledged} pushes, ${run.claims} claims`)
  }
  isRunning = false
  await clients
  return run
}

async function waitForMore(run, from, more, hasFailed) {
  const deadline = Date.now() + 15_000
  while (run.acknowledged < from + more && Date.now() < deadline && !hasFailed()) await sleep(5)
}

/** Runs the cron trigger until no reports of a claimed identifier wait. */
export async function waitUntilMoved({ server, sourceId }, call) {
  const deadline = Date.now() + REPEAT_TIMEOUT_MS
  for (let ahead = SWEEP_AHEAD_MS; ; ahead += 11 * 60_000) {
    const time = Date.now() + ahead
    await send(server.base, `/cdn-cgi/local/scheduled?time=${time}`, { timeoutMs: 60_000 })
    const waiting = await listAll(call, `/api/sources/${sourceId}/unclaimed`, 'unclaimed')
    if (waiting.length === 0) return []
    if (Date.now() > deadline) return [`${waiting.length} claimed identifiers were never moved`]
    await sleep(1000)
  }
}

function compare(name, what, expected, found, faults) {
  const counts = new Map()
  for (const one of found) counts.set(one, (counts.get(one) ?? 0) + 1)
  for (const one of expected)
    if (!counts.has(one)) faults.lost.push(`${name}: ${what} ${one} is missing`)
  for (const [one, count] of counts) {
    if (count > 1) faults.duplicated.push(`${name}: ${what} ${one} is there ${count} times`)
    if (!expected.has(one)) faults.duplicated.push(`${name}: ${what} ${one} was never sent`)
  }
}

/** Every acknowledged location, message and emergency is there, once. */
export async function auditPushes(call, devices) {
  const faults = { lost: [], duplicated: [] }
  for (const { identifier, id, times, quarantined, messages, emergencies } of devices) {
    const track = await listAll(call, `/api/devices/${id}/locations`, 'locations')
    const apart = await listAll(call, `/api/devices/${id}/quarantine`, 'quarantine')
    const written = await listAll(call, `/api/devices/${id}/commands`, 'commands')
    const alerts = await listAll(call, `/api/devices/${id}/alerts`, 'alerts')
    const raised = alerts.flatMap(({ dateTime, updates }) => [
      dateTime,
      ...updates.map((update) => update.dateTime),
    ])
    const timesOf = (list) => list.map(({ dateTime }) => dateTime)
    compare(identifier, 'the location of', times, timesOf(track), faults)
    const kept = timesOf(apart.map(({ location }) => location))
    compare(identifier, 'the quarantined location of', quarantined, kept, faults)
    const texts = written.map(({ command }) => command)
    compare(identifier, 'the message', messages, texts, faults)
    compare(identifier, 'the emergency of', emergencies, raised, faults)
  }
  return faults
}
