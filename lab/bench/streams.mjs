import { caller } from '../harness/http.mjs'
import { freePort } from '../harness/process.mjs'
import { serve, temporaryFolder } from '../harness/server.mjs'
import { openFleet } from './growth.mjs'
import { median } from './rate.mjs'

const AT_ONCE = 50

/** How long after a change is asked for the last of so many open streams has heard of it. */
export async function streamReach({ script, streams, rounds, progress }) {
  const { base, stop } = await serve({
    script,
    folder: temporaryFolder(),
    direct: await freePort(),
  })
  const { token } = await openFleet(base, 'streams')
  const url = `${base.replace('http', 'ws')}/api/stream?types=device.created`
  const listeners = []
  try {
    while (listeners.length < streams) {
      progress(`streams: ${listeners.length} of ${streams} open`)
      const size = Math.min(AT_ONCE, streams - listeners.length)
      listeners.push(...(await Promise.all(Array.from({ length: size }, () => open(url, token)))))
    }
    const times = []
    for (let round = 0; round < rounds; round++) {
      progress(`streams: event ${round + 1} of ${rounds}`)
      const heard = Promise.all(listeners.map((listener) => listener.next()))
      const began = performance.now()
      await caller(base, token)('POST', '/api/devices', { name: `Heard ${round}` })
      await heard
      times.push(performance.now() - began)
    }
    return { streams, median: median(times), slowest: Math.max(...times) }
  } finally {
    for (const { socket } of listeners) socket.close()
    await stop()
  }
}

/** A stream that acknowledges what it hears. */
function open(url, token) {
  const socket = new WebSocket(url, ['perigee', `bearer.${token}`])
  let heard = () => {}
  return new Promise((resolve, reject) => {
    socket.onerror = () => reject(new Error('a stream did not open'))
    socket.onclose = ({ code, reason }) =>
      reject(new Error(`a stream was closed: ${code} ${reason}`))
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(data)
      if (message.type === 'ready')
        resolve({ socket, next: () => new Promise((done) => (heard = done)) })
      if (message.type !== 'events') return
      socket.send(JSON.stringify({ type: 'ack', ack: message.ack }))
      heard()
    }
  })
}
