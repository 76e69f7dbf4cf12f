import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { openAccount } from '../harness/http.mjs'
import { createRandom } from '../harness/random.mjs'
import { median } from '../harness/rate.mjs'
import { adminToken } from '../harness/server.mjs'
import { openConnections, runOpenLoop, sendTimed } from './openLoop.mjs'

/*
 * One account floods the server, another sends ordinary requests. The flood must not slow the other
 * account down.
 */

const DAY_MS = 86_400_000
const LICENSES = 100
const NEIGHBOUR_PER_SECOND = 20
/** Half of them tests of a webhook, half of them reports of almost 1 MB. */
const FLOOD_PER_SECOND = 20
const UNREAD_EXPORTS = 24
const UNREAD_STREAMS = 20
/** After this time the buffers of the unread exports are full. */
const SETTLE_MS = 3000

/** Returns a function that gives times one second apart. */
const timesSince = (daysAgo) => {
  let time = Date.now() - daysAgo * DAY_MS
  return () => {
    time += 1000
    return new Date(time).toISOString()
  }
}

/**
 * Measures the neighbour's replies alone and beside the flood, in alternating rounds. `locations` is
 * the length of the flood's track: more than fit into the buffers between the Worker and a client
 * that does not read.
 */
export async function measureNeighbour({ base, seconds, rounds, locations, seed, progress }) {
  const random = createRandom(seed)
  const receiver = await openHangingReceiver()
  const next = await openNeighbour(base)
  const flood = await openFlood(base, { url: receiver.url, locations, progress })
  const results = { alone: [], beside: [], flood: [] }
  const measure = (send, perSecond) => measureReplies(send, { perSecond, seconds, random })
  try {
    for (let round = 1; round <= rounds; round++) {
      progress(`round ${round} of ${rounds}: the neighbour alone`)
      results.alone.push(await measure(next, NEIGHBOUR_PER_SECOND))
      progress(`round ${round} of ${rounds}: the neighbour beside a flood`)
      const connections = [...flood.openExports(), ...flood.openStreams()]
      await sleep(SETTLE_MS)
      receiver.hang()
      const flooding = measure(flood.next, FLOOD_PER_SECOND)
      results.beside.push(await measure(next, NEIGHBOUR_PER_SECOND))
      receiver.answer()
      results.flood.push(await flooding)
      for (const connection of connections) connection.destroy()
      await sleep(SETTLE_MS)
    }
    return results
  } finally {
    receiver.close()
  }
}

/** The statuses of all rounds together, and the medians of the rounds' percentiles. */
export function summarize(rounds) {
  const statuses = {}
  for (const round of rounds)
    for (const [status, count] of Object.entries(round.statuses))
      statuses[status] = (statuses[status] ?? 0) + count
  const quantile = (share) =>
    median(
      rounds.map(
        ({ times }) =>
          times.toSorted((a, b) => a - b)[Math.floor((times.length - 1) * share)] ?? Number.NaN,
      ),
    )
  return { statuses, p50: quantile(0.5), p99: quantile(0.99) }
}

/** Sends at a fixed rate, with jitter. The times are those of successes. */
async function measureReplies(next, { perSecond, seconds, random }) {
  const [statuses, times] = [{}, []]
  const onReply = ({ status, elapsedMs }) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status >= 200 && status < 300) times.push(elapsedMs)
  }
  await runOpenLoop({ perSecond, seconds, next, onReply, random })
  return { statuses, times }
}

async function openTenant(base, userName) {
  const { call, token } = await openAccount(base, adminToken, { userName, licenses: LICENSES })
  const { device } = await call('POST', '/api/devices', { name: 'Tern' })
  const headers = { Authorization: `Bearer ${token}` }
  return { call, token, headers, device: `/api/devices/${device.id}` }
}

/** Reports of one location, last locations and lists, in turn. */
async function openNeighbour(base) {
  const { call, headers, device } = await openTenant(base, 'neighbour')
  const nextTime = timesSince(1)
  const nextReport = () => ({ dateTime: nextTime(), latitude: 38.7, longitude: -9.1 })
  // The runtime closes a connection whose large body it refused, with the next request on it: those
  // of the flood are not the neighbour's.
  const agent = openConnections()
  await call('POST', `${device}/locations`, nextReport())
  let turn = 0
  return () => {
    const kind = turn++ % 3
    if (kind === 0)
      return sendTimed(base, {
        method: 'POST',
        path: `${device}/locations`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: JSON.stringify(nextReport()),
        agent,
      })
    const path = kind === 1 ? `${device}/lastLocation` : '/api/devices?limit=20'
    return sendTimed(base, { method: 'GET', path, headers, agent })
  }
}

async function openFlood(base, { url, locations, progress }) {
  const { call, token, headers, device } = await openTenant(base, 'flood')
  const { webhook } = await call('POST', '/api/webhooks', { url, events: ['alert.*'] })
  const nextTime = timesSince(30)
  const thousandLocations = (members) => ({
    locations: Array.from({ length: 1000 }, () => ({
      dateTime: nextTime(),
      latitude: 38.7,
      longitude: -9.1,
      ...members,
    })),
  })
  for (let stored = 0; stored < locations; stored += 1000) {
    progress(`storing a track: ${stored} locations`)
    await call('POST', `${device}/locations`, thousandLocations({}))
  }
  const reports = Array.from({ length: 10 }, () =>
    JSON.stringify(thousandLocations({ attributes: { note: 'x'.repeat(800) } })),
  )
  // Each report is new to the next device: a repeated one would be compared, not stored.
  const devices = []
  for (let made = 1; made < LICENSES; made++) {
    const { device: other } = await call('POST', '/api/devices', { name: `Tern ${made}` })
    devices.push(`/api/devices/${other.id}`)
  }
  let reported = 0
  const nextReport = () => ({
    path: `${devices[Math.floor(reported / reports.length) % devices.length]}/locations`,
    body: reports[reported++ % reports.length],
  })
  let turn = 0
  return {
    next: () => {
      const isTest = turn++ % 2 === 0
      const test = { path: `/api/webhooks/${webhook.id}/test`, body: '{}' }
      return sendTimed(base, {
        method: 'POST',
        headers: { ...headers, 'Content-Type': 'application/json' },
        ...(isTest ? test : nextReport()),
      })
    },
    openExports: () =>
      Array.from({ length: UNREAD_EXPORTS }, () =>
        openUnreadExport(base, `${device}/locations?format=geojson`, token),
      ),
    openStreams: () => Array.from({ length: UNREAD_STREAMS }, () => openUnreadStream(base, token)),
  }
}

/** Requests an export and reads nothing of it. */
function openUnreadExport(base, path, token) {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  return socket
}

/** Opens a stream of all events and reads nothing of it. */
function openUnreadStream(base, token) {
  const outgoing = request(`${base}/api/stream`, {
    agent: false,
    headers: {
      Connection: 'Upgrade',
      Upgrade: 'websocket',
      'Sec-WebSocket-Version': '13',
      'Sec-WebSocket-Key': 'c29tZSBzaXh0ZWVuIGI=',
      Authorization: `Bearer ${token}`,
    },
  })
  outgoing.on('error', () => {})
  outgoing.on('upgrade', (_, socket) => socket.pause().on('error', () => {}))
  outgoing.on('response', (incoming) => incoming.resume())
  outgoing.end()
  return outgoing
}

/** Accepts every request; while it hangs it never replies. */
async function openHangingReceiver() {
  let isHanging = true
  const server = createServer((_, response) => {
    if (!isHanging) response.writeHead(204).end()
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    hang: () => {
      isHanging = true
    },
    /** Ends the calls that wait, so that the next round begins without them. */
    answer: () => {
      isHanging = false
      server.closeAllConnections()
    },
    close: () => server.close().closeAllConnections(),
  }
}
