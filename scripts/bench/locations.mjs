// Reports and last locations against a bare Worker with the same statements: interleaved rounds, medians, ratios.
// `node scripts/bench/locations.mjs`
import { useToolchain } from '../toolchain.mjs'
import { median, rate, send } from './load.mjs'

await useToolchain()
const { addBareDevices, openAccount, serveApi, serveBare } = await import('./servers.mjs')

const ROUNDS = Number(process.env.ROUNDS ?? 9)
const MILLISECONDS = Number(process.env.MILLISECONDS ?? 700)
const LANES = 8

const [api, bare] = await Promise.all([serveApi(), serveBare()])
try {
  const caller = await openAccount(api)
  const deviceIds = await Promise.all(Array.from({ length: 20 }, (_, index) => caller.createDevice(`Tern ${index}`)))
  await addBareDevices(bare, deviceIds)

  const device = turnsOf(deviceIds)
  const apiReport = reports(wire)
  const bareReport = reports(packed)
  const cases = [
    {
      name: 'report of 1',
      floor: 0.75,
      api: () => post(`${api.base}/api/devices/${device()}/locations`, apiReport(1), caller.headers),
      bare: () => post(`${bare.base}/${device()}/locations`, bareReport(1)),
    },
    {
      name: 'lastLocation',
      floor: 0.75,
      api: () => get(`${api.base}/api/devices/${device()}/lastLocation`, caller.headers),
      bare: () => get(`${bare.base}/${device()}/lastLocation`),
    },
    {
      name: 'report of 1000',
      floor: 0.6,
      locations: 1000,
      api: () => post(`${api.base}/api/devices/${device()}/locations`, apiReport(1000), caller.headers),
      bare: () => post(`${bare.base}/${device()}/locations`, bareReport(1000)),
    },
  ]
  for (const one of cases) await compare(one)
} finally {
  await Promise.all([api.server.dispose(), bare.server.dispose()])
}

async function compare({ name, floor, locations = 1, ...sides }) {
  const rates = { api: [], bare: [] }
  for (const side of ['api', 'bare']) await rate(MILLISECONDS, LANES, sides[side])
  for (let round = 0; round < ROUNDS; round++) {
    for (const side of round % 2 ? ['api', 'bare'] : ['bare', 'api']) rates[side].push(await rate(MILLISECONDS, LANES, sides[side]))
  }
  const [ours, theirs] = [median(rates.api), median(rates.bare)]
  const ratio = median(rates.api.map((value, round) => value / rates.bare[round]))
  const perSecond = locations > 1 ? `, ${Math.round(ours * locations)} locations/s` : ''
  console.log(
    `${name.padEnd(15)} ${ours.toFixed(0).padStart(6)}/s  bare ${theirs.toFixed(0).padStart(6)}/s  ratio ${ratio.toFixed(2)} (floor ${floor})${perSecond}`,
  )
}

async function post(url, body, headers = {}) {
  const reply = await send(url, { method: 'POST', body, headers: { 'Content-Type': 'application/json', ...headers } })
  if (reply.status !== 201) throw new Error(`${url}: ${reply.status} ${reply.text.slice(0, 300)}`)
}

async function get(url, headers = {}) {
  const reply = await send(url, { headers })
  if (reply.status !== 200) throw new Error(`${url}: ${reply.status} ${reply.text.slice(0, 300)}`)
}

/** Bodies are made before they are timed; each has times of its own, a second apart. */
function reports(body) {
  let at = Date.UTC(2001, 0, 1)
  const ready = new Map()
  return (count) => {
    const pool = ready.get(count) ?? []
    if (pool.length === 0) for (let made = 0; made < 50; made++) pool.push(body(Array.from({ length: count }, () => (at += 1000))))
    ready.set(count, pool)
    return pool.pop()
  }
}

function wire(times) {
  return JSON.stringify({
    locations: times.map((at) => ({
      dateTime: new Date(at).toISOString(),
      latitude: 38.72 + (at % 10_000_000) / 1e8,
      longitude: -9.14,
      altitude: 12.5,
      speed: 31.4,
      course: 271,
      accuracy: 5,
      battery: 87,
      source: 'gnss',
    })),
  })
}

function packed(times) {
  return JSON.stringify(
    times.map((at) => [at, Math.round((38.72 + (at % 10_000_000) / 1e8) * 1e7), -91400000, 1250, 3140, 27100, 500, 8700, 'gnss', null]),
  )
}

function turnsOf(values) {
  let turn = 0
  return () => values[turn++ % values.length]
}
