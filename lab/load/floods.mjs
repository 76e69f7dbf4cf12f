import { setTimeout as sleep } from 'node:timers/promises'
import { mixedFlood } from './mixedFlood.mjs'
import { openConnections, sendTimed } from './openLoop.mjs'
import { openTenant, timesSince } from './tenant.mjs'

/* What one account can send that costs much more than it looks. */

/** A client that was refused tries again after this time, even if Retry-After is longer. */
const REFUSED_PAUSE_MS = 1000
const JSON_TYPE = { 'Content-Type': 'application/json' }
const XML_TYPE = { 'Content-Type': 'text/xml' }

/** 1150 of them are about 200 KB, of 20 devices that nobody has claimed. */
const xmlPush = (messages) => {
  const list = Array.from(
    { length: messages },
    (_, n) =>
      `<stuMessage><esn>0-${n % 20}</esn><unixTime>${1_790_000_000 + n}</unixTime><gps>N</gps>` +
      '<payload length="9" source="pc" encoding="hex">0xC0560D72DA4AB2445A</payload></stuMessage>',
  )
  return `<stuMessages messageID="567207545ca11ed51a7a8c0b">${list.join('')}</stuMessages>`
}

async function storeTrack({ call, device }, locations) {
  const nextTime = timesSince(20)
  for (let stored = 0; stored < locations; stored += 1000)
    await call('POST', `${device}/locations`, {
      locations: Array.from({ length: 1000 }, (_, n) => ({
        dateTime: nextTime(),
        latitude: 38.7 + ((stored + n) % 5000) / 1e4,
        longitude: -9.1,
      })),
    })
}

const spanOf = (days) => ({
  from: new Date(Date.now() - days * 86_400_000).toISOString(),
  to: new Date().toISOString(),
})

/** A star of so many positions around the track. */
const zoneOf = (n, positions) => {
  const ring = Array.from({ length: positions - 1 }, (_, at) => {
    const angle = (at / (positions - 1)) * 2 * Math.PI
    const radius = 0.2 + n / 1000 + (at % 2) / 10
    return [-9.1 + radius * Math.cos(angle), 38.9 + radius * Math.sin(angle)]
  })
  return { name: `Star ${n}`, shape: { type: 'Polygon', coordinates: [[...ring, ring[0]]] } }
}

async function makeRules({ call }, { zones, positions, rules }) {
  const ids = []
  for (let n = 0; n < zones; n++)
    ids.push((await call('POST', '/api/zones', zoneOf(n, positions))).zone.id)
  const made = []
  for (let n = 0; n < rules; n++) {
    // One rule names all zones. More together name as many positions as an account may.
    const when = { type: 'enters', zones: rules === 1 ? ids : [ids[n % zones]] }
    const body = { name: `Rule ${n}`, when, notifications: [] }
    made.push((await call('POST', '/api/rules', body)).rule.id)
  }
  return made
}

/** Each makes, for its own account, a function that returns the next request of the flood. */
const REQUESTS = {
  passwords: async ({ call }) => {
    const { id } = await call('POST', '/api/users', {
      name: 'Flood',
      email: 'flood@perigee.example',
      country: 'PT',
      timeZone: 'UTC',
    })
    let turn = 0
    return () => ({
      method: 'PATCH',
      path: `/api/users/${id}`,
      headers: { 'Content-Type': 'application/merge-patch+json' },
      body: JSON.stringify({ password: `correct horse battery ${turn++}` }),
    })
  },
  'XML pushes': async ({ call }) => {
    const { url } = await call('POST', '/api/sources', { name: 'Flood', provider: 'globalstar' })
    const push = { method: 'POST', path: new URL(url).pathname, headers: XML_TYPE }
    return () => ({ ...push, body: xmlPush(1150) })
  },
  decode: async () => {
    const pasted = { provider: 'globalstar', contentType: 'text/xml', body: xmlPush(1150) }
    const body = JSON.stringify(pasted)
    return () => ({ method: 'POST', path: '/api/sources/decode', headers: JSON_TYPE, body })
  },
  'trips and summaries': async (tenant, { isLong }) => {
    await storeTrack(tenant, isLong ? 100_000 : 10_000)
    const query = new URLSearchParams(spanOf(21))
    let turn = 0
    return () => ({
      method: 'GET',
      path: `${tenant.device}/${turn++ % 2 ? 'trips' : 'summary'}?${query}`,
    })
  },
  exports: async (tenant, { isLong }) => {
    await storeTrack(tenant, isLong ? 100_000 : 10_000)
    return () => ({ method: 'GET', path: `${tenant.device}/locations?format=csv` })
  },
  replays: async ({ base, call, headers }) => {
    const { source, url } = await call('POST', '/api/sources', {
      name: 'Flood',
      provider: 'globalstar',
      keepRaw: true,
    })
    const push = { method: 'POST', path: new URL(url).pathname, body: xmlPush(300) }
    for (let sent = 0; sent < 60; ) {
      const { status } = await sendTimed(base, { ...push, headers: { ...headers, ...XML_TYPE } })
      if (status === 200) sent++
      else await sleep(REFUSED_PAUSE_MS)
    }
    const body = JSON.stringify(spanOf(1))
    const path = `/api/sources/${source.id}/replay`
    return () => ({ method: 'POST', path, headers: JSON_TYPE, body })
  },
  'rule tests': async (tenant, { isLong }) => {
    await storeTrack(tenant, isLong ? 100_000 : 10_000)
    const [rule] = await makeRules(tenant, { zones: 20, positions: 1000, rules: 1 })
    const body = JSON.stringify({ deviceId: tenant.deviceId, ...spanOf(21) })
    return () => ({ method: 'POST', path: `/api/rules/${rule}/test`, headers: JSON_TYPE, body })
  },
  'reports with rules': async (tenant, { isLong }) => {
    const size = isLong ? { zones: 20, positions: 1000, rules: 100 } : { zones: 5, positions: 200 }
    await makeRules(tenant, { rules: 20, ...size })
    const nextTime = timesSince(1)
    let turn = 0
    return () => ({
      method: 'POST',
      path: `${tenant.device}/locations`,
      headers: JSON_TYPE,
      body: JSON.stringify({
        dateTime: nextTime(),
        latitude: 38.9 + (turn++ % 2) / 2,
        longitude: -9.1,
      }),
    })
  },
}

const PARALLEL = 32

/** How much longer than alone the neighbour's slowest hundredth may take beside a flood. */
const MAX_RATIO = 3
/**
 * The same beside reports: storing 1 MB cannot be done in slices, and 32 reports at once use all
 * the CPU that there is.
 */
const MAX_RATIO_OF_REPORTS = new Map([
  [mixedFlood.name, 10],
  ['reports with rules', 10],
])

/** So many clients, each of which sends its next request after the reply to the one before. */
const startClients =
  ({ base, headers }, next) =>
  (onReply) => {
    let isRunning = true
    const agent = openConnections()
    const client = async () => {
      while (isRunning) {
        const request = next()
        const reply = await sendTimed(base, {
          ...request,
          headers: { ...headers, ...request.headers },
          agent,
        })
        onReply(reply)
        if (reply.status >= 300 || reply.status === 0) await sleep(REFUSED_PAUSE_MS)
      }
    }
    const clients = Array.from({ length: PARALLEL }, client)
    return async () => {
      isRunning = false
      await Promise.all(clients)
      agent.destroy()
    }
  }

/** Opens one flood after the other, each with an account of its own. */
export async function* openFloods(base, { isLong, progress, names }) {
  const openers = new Map([[mixedFlood.name, mixedFlood.open]])
  for (const [name, open] of Object.entries(REQUESTS))
    openers.set(name, async (tenant, size) => ({
      start: startClients(tenant, await open(tenant, size)),
    }))
  let opened = 0
  for (const [name, open] of openers) {
    if (names && !names.includes(name)) continue
    progress(`preparing the flood of ${name}`)
    const tenant = await openTenant(base, `flood-${opened++}`)
    const maxRatio = MAX_RATIO_OF_REPORTS.get(name) ?? MAX_RATIO
    yield { name, maxRatio, flood: await open(tenant, { isLong }) }
  }
}
