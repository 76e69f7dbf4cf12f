import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { freePort, ServerProcess } from '../harness/process.mjs'
import { temporaryFolder } from '../harness/server.mjs'
import { openFleet, TRACK_START } from './growth.mjs'
import { addTrack, withAccount } from './seed.mjs'

const MEBIBYTE = 2 ** 20
/** Less than a third of what Cloudflare gives an isolate: V8 lets garbage lie up to there, and what an export needs must fit below. */
const HEAP = 40

/** How much memory the runtime takes, above what it has when idle, to export a track of so many locations. */
export async function exportMemory({ script, locations, progress }) {
  const server = new ServerProcess({
    script,
    folder: temporaryFolder(),
    port: await freePort(),
    direct: true,
    heap: HEAP,
  })
  await server.start()
  const fleet = await openFleet(server.base, 'export')
  await server.stop()
  progress(`export: writing ${locations} locations`)
  withAccount(server.folder, fleet.accountId, (both) =>
    addTrack(both, fleet.deviceId, locations - 1),
  )
  await server.start()
  try {
    const url = `${server.base}/api/devices/${fleet.deviceId}/locations?format=csv`
    for (let round = 0; round < 20; round++)
      await stream(`${url}&to=${new Date(TRACK_START + 300_000).toISOString()}`, fleet.token)
    progress('export: streaming, in a fresh runtime')
    const began = performance.now()
    const { idle, above, result } = await watched(server, () => stream(url, fleet.token))
    const seconds = (performance.now() - began) / 1000
    const { bytes, lines } = result
    if (lines !== locations + 1) throw new Error(`${lines} lines for ${locations} locations`)
    progress('export: streaming again')
    const again = await watched(server, () => stream(url, fleet.token))
    return { locations, seconds, megabytes: bytes / 1e6, idle, above, again: again.above }
  } finally {
    await server.stop()
  }
}

/** What a piece of work takes above the process as it was a second after the last. */
async function watched(server, work) {
  await sleep(1000)
  const idle = server.memory()
  let peak = idle
  const watch = setInterval(() => {
    peak = Math.max(peak, server.memory())
  }, 20)
  const result = await work()
  clearInterval(watch)
  return { idle: idle / MEBIBYTE, above: (peak - idle) / MEBIBYTE, result }
}

/** Reads a reply to its end and keeps none of it. */
function stream(url, token) {
  return new Promise((resolve, reject) => {
    const outgoing = get(url, { headers: { Authorization: `Bearer ${token}` } }, (incoming) => {
      let [bytes, lines] = [0, 0]
      incoming.on('data', (chunk) => {
        bytes += chunk.length
        for (const byte of chunk) if (byte === 10) lines++
      })
      incoming.on('end', () =>
        incoming.statusCode === 200
          ? resolve({ bytes, lines })
          : reject(new Error(`${url}: ${incoming.statusCode}`)),
      )
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
  })
}
