import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { caller } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'
import { ask, openLoop } from './openLoop.mjs'

/* One account floods, another asks as it always does: the flood must not be felt next door. */

const DAY_MS = 86_400_000
const LICENSES = 100
/** The neighbour's requests a second, and the flood's: tests of webhooks and reports of almost 1 MB. */
const CALM_RATE = 20
const FLOOD_RATE = 20
const UNREAD_EXPORTS = 24
const UNREAD_STREAMS = 20
/** More than the buffers between the Worker and a client that does not read. */
const TRACK = 40_000
/** Until the buffers of the exports that nobody reads are full. */
const SETTLING = 3000

/** Times a second apart, from so many days ago on. */
const timesFrom = (daysAgo) => {
  let at = Date.now() - daysAgo * DAY_MS
  return () => {
    at += 1000
    return new Date(at).toISOString()
  }
}

/** What the neighbour is answered, alone and beside the flood; and what the flood is answered. */
export async function besideFlood({ base, seconds, progress }) {
  const receiver = await openHangingReceiver()
  const calm = await openCalm(base)
  const flood = await openFlood(base, receiver.url, progress)
  try {
    progress('the neighbour alone')
    const alone = await listen(calm, CALM_RATE, seconds)
    progress('the neighbour beside a flood')
    const open = [...flood.openExports(), ...flood.openStreams()]
    await sleep(SETTLING)
    const flooding = listen(flood.next, FLOOD_RATE, seconds)
    const beside = await listen(calm, CALM_RATE, seconds)
    const { statuses } = await flooding
    for (const socket of open) socket.destroy()
    return { alone, beside, flood: statuses }
  } finally {
    receiver.close()
  }
}

/** Asks at a rate, whether or not answers come. Times are those of successes. */
async function listen(next, perSecond, seconds) {
  const [statuses, times] = [{}, []]
  const answered = ({ status, took }) => {
    statuses[status] = (statuses[status] ?? 0) + 1
    if (status >= 200 && status < 300) times.push(took)
  }
  await openLoop({ perSecond, seconds, next, answered })
  times.sort((a, b) => a - b)
  const quantile = (share) => times[Math.floor((times.length - 1) * share)] ?? Number.NaN
  return { statuses, median: quantile(0.5), p99: quantile(0.99) }
}

async function openAccount(base, userName) {
  const { apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
    userName,
    name: userName,
    licenses: LICENSES,
    timeZone: 'UTC',
  })
  const { token } = await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })
  const call = caller(base, token)
  const { device } = await call('POST', '/api/devices', { name: 'Tern' })
  const headers = { Authorization: `Bearer ${token}` }
  return { call, token, headers, device: `/api/devices/${device.id}` }
}

/** Reports of one location, last locations and lists, in turn. */
async function openCalm(base) {
  const { call, headers, device } = await openAccount(base, 'neighbour')
  const nextTime = timesFrom(1)
  const report = () =>
    JSON.stringify({
      dateTime: nextTime(),
      latitude: 38.7,
      longitude: -9.1,
    })
  await call('POST', `${device}/locations`, JSON.parse(report()))
  let turn = 0
  return () => {
    const kind = turn++ % 3
    if (kind === 0)
      return ask(base, {
        method: 'POST',
        path: `${device}/locations`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: report(),
      })
    const path = kind === 1 ? `${device}/lastLocation` : '/api/devices?limit=20'
    return ask(base, { method: 'GET', path, headers })
  }
}

async function openFlood(base, url, progress) {
  const { call, token, headers, device } = await openAccount(base, 'flood')
  const { webhook } = await call('POST', '/api/webhooks', { url, events: ['alert.*'] })
  const nextTime = timesFrom(30)
  const thousand = (extra) =>
    JSON.stringify({
      locations: Array.from({ length: 1000 }, () => ({
        dateTime: nextTime(),
        latitude: 38.7,
        longitude: -9.1,
        ...extra,
      })),
    })
  for (let stored = 0; stored < TRACK; stored += 1000) {
    progress(`a track to export: ${stored} locations`)
    await call('POST', `${device}/locations`, JSON.parse(thousand({})))
  }
  const large = Array.from({ length: 20 }, () =>
    thousand({ attributes: { note: 'x'.repeat(800) } }),
  )
  let turn = 0
  return {
    next: () => {
      const isTest = turn++ % 2 === 0
      return ask(base, {
        method: 'POST',
        path: isTest ? `/api/webhooks/${webhook.id}/test` : `${device}/locations`,
        headers: { ...headers, 'Content-Type': 'application/json' },
        body: isTest ? '{}' : large[turn % large.length],
      })
    },
    openExports: () =>
      Array.from({ length: UNREAD_EXPORTS }, () =>
        unreadExport(base, `${device}/locations?format=geojson`, token),
      ),
    openStreams: () => Array.from({ length: UNREAD_STREAMS }, () => unreadStream(base, token)),
  }
}

/** Asks for an export and reads nothing of it. */
function unreadExport(base, path, token) {
  const { hostname, port } = new URL(base)
  const socket = connect(Number(port), hostname).pause()
  socket.on('error', () => {})
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: ${hostname}\r\nAuthorization: Bearer ${token}\r\n\r\n`,
  )
  return socket
}

/** Opens a stream of all events and reads nothing of it. */
function unreadStream(base, token) {
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

/** Takes every request and answers none. */
async function openHangingReceiver() {
  const server = createServer(() => {}).listen(0, '127.0.0.1')
  await once(server, 'listening')
  return {
    url: `http://127.0.0.1:${server.address().port}/`,
    close: () => server.close().closeAllConnections(),
  }
}
