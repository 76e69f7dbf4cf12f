import { get } from 'node:http'
import { setTimeout as sleep } from 'node:timers/promises'
import { findFreePort, ServerProcess } from '../harness/process.mjs'
import { temporaryFolder } from '../harness/server.mjs'
import { FIRST_TIME, openFleet } from './fleet.mjs'
import { addTrack, editAccountFiles } from './seed.mjs'

const MEBIBYTE = 2 ** 20
/**
 * Less than a third of Cloudflare's heap. V8 keeps garbage up to the limit, so a low one shows what
 * an export needs.
 */
const HEAP_MEGABYTES = 40

/** Measures how much more memory than when idle the runtime uses to export a long track. */
export async function measureExportMemory({ script, locations, progress }) {
  const server = new ServerProcess({
    script,
    folder: temporaryFolder(),
    port: await findFreePort(),
    isDirect: true,
    heapMegabytes: HEAP_MEGABYTES,
  })
  await server.start()
  const { accountId, deviceId, token } = await openFleet(server.base, 'export')
  await server.stop()
  progress(`export: writing ${locations} locations`)
  editAccountFiles(server.folder, accountId, (files) => addTrack(files, deviceId, locations - 1))
  await server.start()
  try {
    const url = `${server.base}/api/devices/${deviceId}/locations?format=csv`
    const shortUrl = `${url}&to=${new Date(FIRST_TIME + 300_000).toISOString()}`
    for (let round = 0; round < 20; round++) await download(shortUrl, token)
    progress('export: streaming, in a new runtime')
    const startedAt = performance.now()
    const { idle, above, result } = await measureMemory(server, () => download(url, token))
    const seconds = (performance.now() - startedAt) / 1000
    const { bytes, lines } = result
    if (lines !== locations + 1) throw new Error(`${lines} lines for ${locations} locations`)
    progress('export: streaming again')
    const again = await measureMemory(server, () => download(url, token))
    return { locations, seconds, megabytes: bytes / 1e6, idle, above, again: again.above }
  } finally {
    await server.stop()
  }
}

/** The peak of memory during `work`, above that of a second's rest before it. */
async function measureMemory(server, work) {
  await sleep(1000)
  const idleBytes = server.memoryBytes()
  let peakBytes = idleBytes
  const sampling = setInterval(() => {
    peakBytes = Math.max(peakBytes, server.memoryBytes())
  }, 20)
  const result = await work()
  clearInterval(sampling)
  return { idle: idleBytes / MEBIBYTE, above: (peakBytes - idleBytes) / MEBIBYTE, result }
}

/** Reads a reply to its end without keeping it; counts bytes and lines. */
function download(url, token) {
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
