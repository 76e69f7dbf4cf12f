// A track of a million locations, exported in every format: how fast, and how much memory above idle.
// Prints also how many bytes a location takes. `node scripts/bench/export.mjs`
import { readdirSync, readFileSync, statSync } from 'node:fs'
import { request } from 'node:http'
import { join } from 'node:path'
import { useToolchain } from '../toolchain.mjs'

await useToolchain()
const { openAccount, serveApi } = await import('./servers.mjs')

const LOCATIONS = Number(process.env.LOCATIONS ?? 1_000_000)
const FORMATS = ['geojson', 'geojson&geometry=line', 'gpx', 'kml', 'csv']
const MOST_MEGABYTES = 64
const CELL_BYTES = 10e9

const api = await serveApi()
try {
  const caller = await openAccount(api)
  const device = await caller.createDevice('Tern 7')
  const before = databaseBytes()
  await fill(device)
  await api.db.prepare('SELECT 1').first()
  const perLocation = (databaseBytes() - before) / LOCATIONS
  console.log(
    `a location takes ${perLocation.toFixed(0)} bytes; a cell of 10 GB holds ${(CELL_BYTES / perLocation / 1e6).toFixed(0)} million`,
  )

  await take(`/api/devices/${device}/locations?format=csv&to=2025-01-01T01:00:00Z`, caller.headers)
  for (const format of FORMATS) {
    const idle = residentMegabytes()
    let peak = idle
    const watch = setInterval(() => (peak = Math.max(peak, residentMegabytes())), 20)
    const began = performance.now()
    const bytes = await take(`/api/devices/${device}/locations?format=${format}`, caller.headers)
    const seconds = (performance.now() - began) / 1000
    clearInterval(watch)
    const above = peak - idle
    console.log(
      `${format.padEnd(22)} ${(bytes / 1e6).toFixed(0).padStart(4)} MB in ${seconds.toFixed(1).padStart(5)} s, ${Math.round(LOCATIONS / seconds)} locations/s, ` +
        `memory ${above.toFixed(0)} MB above idle (at most ${MOST_MEGABYTES})`,
    )
    if (above > MOST_MEGABYTES) process.exitCode = 1
  }
} finally {
  await api.server.dispose()
}

/** A fix every ten seconds, with all the frequent fields, as reports would have stored it. */
async function fill(device) {
  const page = 50_000
  for (let from = 0; from < LOCATIONS; from += page) {
    await api.db
      .prepare(
        `INSERT INTO locations (device_key, time, latitude, longitude, altitude, speed, course, accuracy, battery, source, received_at)
         WITH RECURSIVE n(i) AS (SELECT ?2 UNION ALL SELECT i + 1 FROM n WHERE i < ?3 - 1)
         SELECT key, ?4 + i * 10000, 387223000 + i * 131, 1700000000 + i * 977 % 100000000, 1250 + i % 300, 3140 + i % 97, i % 36000, 500, 8700, 'gnss', ?4 + i * 10000 + 2500
         FROM n, devices WHERE id = ?1`,
      )
      .bind(device, from, Math.min(from + page, LOCATIONS), Date.UTC(2025, 0, 1))
      .run()
  }
}

/** Reads the answer as it comes and keeps nothing of it. */
function take(path, headers) {
  return new Promise((resolve, reject) => {
    const outgoing = request(`${api.base}${path}`, { headers }, (incoming) => {
      if (incoming.statusCode !== 200) reject(new Error(`${path}: ${incoming.statusCode}`))
      let bytes = 0
      incoming.on('data', (chunk) => (bytes += chunk.length))
      incoming.on('end', () => resolve(bytes))
      incoming.on('error', reject)
    })
    outgoing.on('error', reject)
    outgoing.end()
  })
}

function databaseBytes(folder = api.folder) {
  return readdirSync(folder, { recursive: true })
    .filter((name) => /sqlite(-wal)?$/.test(name))
    .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0)
}

/** Of every workerd that this process has started: the API's, and nothing else in it but the local database. */
function residentMegabytes() {
  const children = readFileSync(`/proc/self/task/${process.pid}/children`, 'utf8').trim().split(' ').filter(Boolean)
  return children.reduce((sum, pid) => {
    const pages = Number(readFileSync(`/proc/${pid}/statm`, 'utf8').split(' ')[1])
    return sum + (pages * 4096) / 1e6
  }, 0)
}
