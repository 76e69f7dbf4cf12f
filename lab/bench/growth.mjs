import { requester } from '../harness/connections.mjs'
import { measureInterleaved, median, medianRatio } from '../harness/rate.mjs'
import { serve, temporaryFolder } from '../harness/server.mjs'
import { openFleet } from './fleet.mjs'
import { addDevices, editAccountFiles } from './seed.mjs'

const LOCATIONS_PER_DEVICE = 10
const HISTORY_LOCATIONS = 1000

/** Measures the same requests with few devices and with many, each account in its own cell. */
export async function measureGrowth({ script, small, large, measure, progress }) {
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
    editAccountFiles(folder, accountId, (files) =>
      addDevices(files, { accountId, deviceId, count: count - 1, locations: LOCATIONS_PER_DEVICE }),
    )
  }
  const server = await serve({ script, folder, cells: 2 })
  try {
    const [ofSmall, ofLarge] = [
      await prepareRequests(server.base, fleets.small),
      await prepareRequests(server.base, fleets.large),
    ]
    const results = []
    for (const name of Object.keys(ofSmall)) {
      progress(`growth: ${name}`)
      const rates = await measureInterleaved(
        { small: ofSmall[name], large: ofLarge[name] },
        measure,
      )
      results.push({
        name,
        small: median(rates.small),
        large: median(rates.large),
        times: medianRatio(rates.small, rates.large),
      })
    }
    return results
  } finally {
    await server.stop()
  }
}

async function prepareRequests(base, { token }) {
  const request = requester(base, { Authorization: `Bearer ${token}` })
  const search = await request('GET', '/api/devices?q=tern%20000004&limit=10')
  const [{ id }] = JSON.parse(search.text).devices
  const locations = Array.from({ length: HISTORY_LOCATIONS }, (_, index) => ({
    dateTime: new Date(Date.now() - 300 * 86_400_000 + index * 60_000).toISOString(),
    latitude: 38.7,
    longitude: -9.1,
  }))
  await request('POST', `/api/devices/${id}/locations`, JSON.stringify({ locations }))
  let created = 0
  return {
    'device list, page of 100': () => request('GET', '/api/devices?limit=100'),
    search: () => request('GET', '/api/devices?q=tern%20000004&limit=100'),
    'license grant': () => request('POST', '/api/devices', `{"name":"Grant ${++created}"}`),
    lastLocation: () => request('GET', `/api/devices/${id}/lastLocation`),
    'history page of 100': () => request('GET', `/api/devices/${id}/locations?limit=100`),
  }
}
