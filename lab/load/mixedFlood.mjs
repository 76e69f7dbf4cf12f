import { once } from 'node:events'
import { createServer, request } from 'node:http'
import { connect } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { sendTimed } from './openLoop.mjs'
import { LICENSES, timesSince } from './tenant.mjs'

/*
 * A flood of requests that hold something for long: tests of a webhook whose receiver hangs, reports
 * of almost 1 MB, and exports and streams that nobody reads.
 */

/** Half of them tests of a webhook, half of them reports. */
const PER_SECOND = 20
const UNREAD_EXPORTS = 24
const UNREAD_STREAMS = 20
/** After this time the buffers of the unread exports are full. */
const SETTLE_MS = 3000

export const mixedFlood = {
  name: 'held requests',
  /** More locations than fit into the buffers between the Worker and a client that does not read. */
  async open(tenant, { isLong }) {
    const receiver = await openHangingReceiver()
    const flood = await openFlood(tenant, receiver.url, isLong ? 40_000 : 10_000)
    return {
      async start(onReply) {
        const connections = [...flood.openExports(), ...flood.openStreams()]
        await sleep(SETTLE_MS)
        receiver.hang()
        const pending = new Set()
        const sending = setInterval(() => {
          const sent = flood.next().then((reply) => {
            pending.delete(sent)
            onReply(reply)
          })
          pending.add(sent)
        }, 1000 / PER_SECOND)
        return async () => {
          clearInterval(sending)
          receiver.answer()
          await Promise.all(pending)
          for (const connection of connections) connection.destroy()
          await sleep(SETTLE_MS)
        }
      },
      close: () => receiver.close(),
    }
  },
}

async function openFlood({ base, call, token, headers, device }, url, locations) {
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
  for (let stored = 0; stored < locations; stored += 1000)
    await call('POST', `${device}/locations`, thousandLocations({}))
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
