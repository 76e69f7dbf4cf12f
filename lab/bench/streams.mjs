import { caller } from '../harness/http.mjs'
import { findFreePort } from '../harness/process.mjs'
import { median } from '../harness/rate.mjs'
import { serve, temporaryFolder } from '../harness/server.mjs'
import { openFleet } from './fleet.mjs'

const OPENED_AT_ONCE = 50

/**
 * Measures the time from the request for a change until the last of so many streams has received
 * its event.
 */
export async function measureStreams({ script, streams, rounds, progress }) {
  const { base, stop } = await serve({
    script,
    folder: temporaryFolder(),
    directPort: await findFreePort(),
  })
  const { token } = await openFleet(base, 'streams')
  const url = `${base.replace('http', 'ws')}/api/stream?types=device.created`
  const open = []
  try {
    while (open.length < streams) {
      progress(`streams: ${open.length} of ${streams} open`)
      const count = Math.min(OPENED_AT_ONCE, streams - open.length)
      open.push(...(await Promise.all(Array.from({ length: count }, () => openStream(url, token)))))
    }
    const times = []
    for (let round = 0; round < rounds; round++) {
      progress(`streams: event ${round + 1} of ${rounds}`)
      const received = Promise.all(open.map((stream) => stream.nextEvent()))
      const startedAt = performance.now()
      await caller(base, token)('POST', '/api/devices', { name: `Device ${round}` })
      await received
      times.push(performance.now() - startedAt)
    }
    return { streams, median: median(times), slowest: Math.max(...times) }
  } finally {
    for (const { socket } of open) socket.close()
    await stop()
  }
}

/** Opens a stream that acknowledges every event. */
function openStream(url, token) {
  const socket = new WebSocket(url, ['perigee', `bearer.${token}`])
  let onEvent = () => {}
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error('a stream did not open'))
    socket.onclose = ({ code, reason }) =>
      reject(new Error(`a stream was closed: ${code} ${reason}`))
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data)
      if (message.type === 'ready')
        resolve({ socket, nextEvent: () => new Promise((done) => (onEvent = done)) })
      if (message.type !== 'events') return
      socket.send(JSON.stringify({ type: 'ack', ack: message.ack }))
      onEvent()
    }
  })
}
