import { caller } from '../harness/http.mjs'
import { adminToken, serve, temporaryFolder } from '../harness/server.mjs'
import { asker, interleaved, median, ratioOf } from './rate.mjs'
import { addDevices, withAccount } from './seed.mjs'

const LOCATIONS_EACH = 10
const HISTORY = 1000
/** Within the retention of an account. */
export const TRACK_START = Date.now() - 300 * 86_400_000

/** An account with a device that has reported, for the rest of its fleet to be copied from. */
export async function openFleet(
  base,
  userName,
  { cell = 0, licenses = 2_000_000, history = 1 } = {},
) {
  const { account, apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
    userName,
    name: userName,
    licenses,
    timeZone: 'UTC',
    cell,
  })
  const { token } = await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })
  const call = caller(base, token)
  const { device } = await call('POST', '/api/devices', { name: 'First' })
  const at = (index) => new Date(TRACK_START + index * 60_000).toISOString()
  for (let from = 0; from < history; from += 1000) {
    const locations = Array.from({ length: Math.min(1000, history - from) }, (_, index) => ({
      dateTime: at(from + index),
      latitude: 38.7,
      longitude: -9.1,
    }))
    await call('POST', `/api/devices/${device.id}/locations`, { locations })
  }
  return { accountId: account.id, token, deviceId: device.id, userName, apiKey }
}

/** The same questions to an account with few devices and to one with many, each in a cell of its own. */
export async function growth({ script, small, large, measure, progress }) {
  const folder = temporaryFolder()
  const first = await serve({ script, folder, cells: 2 })
  const fleets = {
    small: await openFleet(first.base, 'small', { cell: 0 }),
    large: await openFleet(first.base, 'large', { cell: 1 }),
  }
  await first.stop()
  progress(`growth: writing ${large} devices`)
  for (const [name, count] of Object.entries({ small, large })) {
    const { accountId, deviceId } = fleets[name]
    withAccount(folder, accountId, (both) =>
      addDevices(both, accountId, deviceId, count - 1, { locations: LOCATIONS_EACH }),
    )
  }
  const server = await serve({ script, folder, cells: 2 })
  try {
    const sides = Object.fromEntries(
      await Promise.all(
        Object.entries(fleets).map(async ([name, fleet]) => [
          name,
          await questions(server.base, fleet),
        ]),
      ),
    )
    const results = []
    for (const question of Object.keys(sides.small)) {
      progress(`growth: ${question}`)
      const rates = await interleaved(
        { small: sides.small[question], large: sides.large[question] },
        measure,
      )
      results.push({
        name: question,
        small: median(rates.small),
        large: median(rates.large),
        times: ratioOf(rates.small, rates.large),
      })
    }
    return results
  } finally {
    await server.stop()
  }
}

async function questions(base, { token }) {
  const ask = asker(base, { Authorization: `Bearer ${token}` })
  const { devices } = JSON.parse((await ask('GET', '/api/devices?q=tern%20000004&limit=10')).text)
  const [{ id }] = devices
  const locations = Array.from({ length: HISTORY }, (_, index) => ({
    dateTime: new Date(TRACK_START - (index + 1) * 60_000).toISOString(),
    latitude: 38.7,
    longitude: -9.1,
  }))
  await ask('POST', `/api/devices/${id}/locations`, JSON.stringify({ locations }))
  let made = 0
  return {
    'device list, page of 100': () => ask('GET', '/api/devices?limit=100'),
    search: () => ask('GET', '/api/devices?q=tern%20000004&limit=100'),
    'license grant': () => ask('POST', '/api/devices', `{"name":"Grant ${++made}"}`),
    lastLocation: () => ask('GET', `/api/devices/${id}/lastLocation`),
    'history page of 100': () => ask('GET', `/api/devices/${id}/locations?limit=100`),
  }
}
