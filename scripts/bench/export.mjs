// A track of a million locations, exported in every format: how fast, and how much memory above idle. This runtime's own
// memory creeps with whatever passes through it, so a bare Worker that streams the same rows untouched is watched beside it.
// Prints also how many bytes a location takes. `node scripts/bench/export.mjs`
import { readFileSync } from 'node:fs'
import { request } from 'node:http'
import { useToolchain } from '../toolchain.mjs'

await useToolchain()
const { addBareDevices, openAccount, serveApi, serveBare } = await import('./servers.mjs')

const LOCATIONS = Number(process.env.LOCATIONS ?? 1_000_000)
const FORMATS = ['geojson', 'geojson&geometry=line', 'gpx', 'kml', 'csv']
const MOST_MEGABYTES = 64
const CELL_BYTES = 10e9
const START = Date.UTC(2025, 0, 1)

const api = { ...(await serveApi()), pid: childPids()[0] }
const bare = { ...(await serveBare()), pid: childPids().find((pid) => pid !== api.pid) }
try {
  const caller = await openAccount(api)
  const device = await caller.createDevice('Tern 7')
  await addBareDevices(bare, [device])
  const empty = await databaseBytes()
  await Promise.all([fill(api.db, device), fill(bare.db, device)])
  const perLocation = ((await databaseBytes()) - empty) / LOCATIONS
  console.log(
    `a location takes ${perLocation.toFixed(0)} bytes; a cell of 10 GB holds ${(CELL_BYTES / perLocation / 1e6).toFixed(0)} million`,
  )

  const short = new Date(START + 3_600_000).toISOString()
  await take(`${api.base}/api/devices/${device}/locations?format=csv&to=${short}`, caller.headers)
  const idle = { api: residentMegabytes(api.pid), bare: residentMegabytes(bare.pid) }
  for (const format of FORMATS) {
    const theirs = await watched(bare.pid, () => take(`${bare.base}/${device}/track`))
    const ours = await watched(api.pid, () => take(`${api.base}/api/devices/${device}/locations?format=${format}`, caller.headers))
    const [above, bareAbove] = [ours.peak - idle.api, theirs.peak - idle.bare]
    console.log(
      `${format.padEnd(22)} ${(ours.bytes / 1e6).toFixed(0).padStart(4)} MB in ${ours.seconds.toFixed(1).padStart(5)} s, ${Math.round(LOCATIONS / ours.seconds)} locations/s, ` +
        `memory ${above.toFixed(0)} MB above idle, bare ${bareAbove.toFixed(0)} (at most ${MOST_MEGABYTES} apart)`,
    )
    if (above - bareAbove > MOST_MEGABYTES) process.exitCode = 1
  }
} finally {
  await Promise.all([api.server.dispose(), bare.server.dispose()])
}

async function databaseBytes() {
  return (await api.db.prepare('SELECT 1').run()).meta.size_after
}

/** A fix every ten seconds, with all the frequent fields, as reports would have stored it. */
async function fill(db, device) {
  const page = 50_000
  for (let from = 0; from < LOCATIONS; from += page) {
    await db
      .prepare(
        `INSERT INTO locations (device_key, time, latitude, longitude, altitude, speed, course, accuracy, battery, source, received_at)
         WITH RECURSIVE n(i) AS (SELECT ?2 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
         SELECT key, ?4 + i * 10000, 387223000 + i * 131, 1700000000 + i * 977 % 100000000, 1250 + i % 300, 3140 + i % 97, i % 36000, 500, 8700, 'gnss', ?4 + i * 10000 + 2500
         FROM n, devices WHERE id = ?1`,
      )
      .bind(device, from, Math.min(from + page, LOCATIONS), START)
      .run()
  }
}

async function watched(pid, work) {
  let peak = residentMegabytes(pid)
  const watch = setInterval(() => (peak = Math.max(peak, residentMegabytes(pid))), 20)
  const began = performance.now()
  const bytes = await work()
  clearInterval(watch)
  return { bytes, seconds: (performance.now() - began) / 1000, peak }
}

/** Reads the answer as it comes and keeps nothing of it. */
function take(url, headers = {}) {
  return new Promise((resolve, reject) => {
    const outgoing = request(url, { headers, agent: false }, (incoming) => {
      if (incoming.statusCode !== 200) reject(new Error(`${url}: ${incoming.statusCode}`))
      let bytes = 0
      incoming.on('data', (chunk) => (bytes += chunk.length))
      incoming.on('end', () => resolve(bytes))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

/** Every workerd that this process has started. */
function childPids() {
  return readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
}

function residentMegabytes(pid) {
  return (Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1]) * 4096) / 1e6
}
