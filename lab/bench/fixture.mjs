import { cpSync } from 'node:fs'
import { requester } from '../harness/connections.mjs'
import { openAccount } from '../harness/http.mjs'
import { findFreePort } from '../harness/process.mjs'
import { adminToken, bundle, serve, temporaryFolder } from '../harness/server.mjs'
import { formatForApi } from './bodies.mjs'

/** Static assets are not part of the comparison. */
const assets = false
const USER = {
  name: 'Ana',
  email: 'ana@example.com',
  phone: '+351910000000',
  country: 'PT',
  timeZone: 'UTC',
  notify: { email: true, sms: true },
}
/** Before the times of the measured reports, and within the retention of an account. */
const FIRST_TIME = Date.now() - 362 * 86_400_000
const LIMITS = { dailyEmailLimit: 100_000, dailySmsLimit: 100_000 }

/**
 * Serves the API and the bare Worker, each with its own copy of the same data. With `delayMs` the API
 * takes the place of the bare Worker too, not joined, and each call to D1 of both takes longer.
 */
export async function prepareFixture(script = bundle(), { inspectorPort, delayMs } = {}) {
  const [folder, copy] = [temporaryFolder(), temporaryFolder()]
  const first = await serve({ script, folder, assets })
  const data = await createData(first.base)
  await first.stop()
  cpSync(`${folder}/.wrangler`, `${copy}/.wrangler`, { recursive: true })
  const vars = delayMs ? { DELAY_MS: String(delayMs) } : {}
  const otherScript = delayMs === undefined ? bundle({ config: 'lab/bench/bare.toml' }) : script
  const common = { assets, vars }
  const [api, other] = [
    await serve({ ...common, script, folder, inspectorPort, directPort: await findFreePort() }),
    await serve({
      ...common,
      script: otherScript,
      folder: copy,
      directPort: await findFreePort(),
      joins: false,
    }),
  ]
  return {
    ...data,
    ...clientsOf(api.base, data),
    bare: requester(other.base),
    notJoined: clientsOf(other.base, data),
    server: api.server,
    stop: () => Promise.all([api.stop(), other.stop()]),
  }
}

/** What sends requests to the API. */
const clientsOf = (base, { token, withRule, withZones, withRules }) => ({
  api: requester(base, { Authorization: `Bearer ${token}` }),
  withRule: withAccount(base, withRule),
  withZones: withAccount(base, withZones),
  withRules: withAccount(base, withRules),
  withoutToken: requester(base),
})

const withAccount = (base, { token, devices }) => ({
  devices,
  call: requester(base, { Authorization: `Bearer ${token}` }),
})

/** A zone of as many vertices, far from where the devices are. */
const zoneAt = (index, vertices) => {
  const ring = Array.from({ length: vertices }, (_, at) => {
    const angle = (2 * Math.PI * at) / vertices
    return [60 + (index % 10) + Math.cos(angle) / 4, Math.floor(index / 10) + Math.sin(angle) / 4]
  })
  return {
    name: `Zone ${index}`,
    shape: { type: 'Polygon', coordinates: [[...ring, ring[0]]] },
  }
}

/** An account whose reports are judged by one rule about these zones. */
async function openRuledAccount(base, userName, zoneCount) {
  const { token, call } = await openAccount(base, adminToken, { userName, licenses: 100 })
  const zones = []
  for (let index = 0; index < zoneCount; index++)
    zones.push((await call('POST', '/api/zones', zoneAt(index, 100))).zone.id)
  if (zoneCount > 0)
    await call('POST', '/api/rules', { name: 'Watch', when: { type: 'enters', zones } })
  const devices = []
  for (let index = 0; index < 20; index++)
    devices.push((await call('POST', '/api/devices', { name: `Ruled ${index}` })).device.id)
  return { token, devices }
}

/** As many rules as may name zones of 1000 positions, which are around the devices. */
async function openCrowdedAccount(base) {
  const account = await openRuledAccount(base, 'bench-rules', 0)
  const { call } = withAccount(base, account)
  const send = async (path, body) =>
    JSON.parse((await call('POST', path, JSON.stringify(body))).text)
  const zones = []
  for (let index = 0; index < 20; index++) {
    const ring = Array.from({ length: 1000 }, (_, at) => {
      const [angle, radius] = [(2 * Math.PI * at) / 1000, at % 2 ? 0.3 : 0.2 + index / 1000]
      return [-9.14 + radius * Math.cos(angle), 38.75 + radius * Math.sin(angle)]
    })
    const shape = { type: 'Polygon', coordinates: [[...ring, ring[0]]] }
    zones.push((await send('/api/zones', { name: `Near ${index}`, shape })).zone.id)
  }
  for (let metres = 0; metres < 100; metres++)
    await send('/api/rules', {
      name: `Rule ${metres}`,
      when: { type: 'enters', zones: [zones[metres % 20]] },
      hysteresis: { metres, fixes: 1 },
    })
  return account
}

async function createData(base) {
  const { id, apiKey, token, call } = await openAccount(base, adminToken, {
    userName: 'bench',
    licenses: 1_000_000,
  })
  const devices = []
  while (devices.length < 200) {
    const created = await Promise.all(
      Array.from({ length: 20 }, (_, index) =>
        call('POST', '/api/devices', {
          name: `Tern ${devices.length + index}`,
          identifier: `bench-${devices.length + index}`,
          limits: LIMITS,
        }),
      ),
    )
    devices.push(...created.map(({ device }) => device.id))
  }
  const minutes = (count) =>
    Array.from({ length: count }, (_, index) => FIRST_TIME + index * 60_000)
  const report = (device, count) =>
    call('POST', `/api/devices/${device}/locations`, JSON.parse(formatForApi(minutes(count))))
  for (const device of devices) await report(device, 1)
  const [deviceWithHistory] = devices
  await report(deviceWithHistory, 1000)
  await call('POST', '/api/users', USER)
  const groups = []
  for (let index = 0; index < 20; index++) {
    const group = await call('POST', '/api/groups', {
      name: `Group ${index}`,
      devices: devices.slice(index * 10, index * 10 + 10),
    })
    groups.push(group.id)
  }
  const { url } = await call('POST', '/api/sources', { name: 'Bench', provider: 'garmin' })
  return {
    pushPath: new URL(url).pathname,
    withRule: await openRuledAccount(base, 'bench-rule', 1),
    withZones: await openRuledAccount(base, 'bench-zones', 100),
    withRules: await openCrowdedAccount(base),
    accountId: id,
    apiKey,
    keyId: `key_${apiKey.split('_')[1]}`,
    token,
    devices,
    deviceWithHistory,
    groups,
  }
}
