import { cycle } from '../harness/rate.mjs'
import { formatForApi, formatForStatement, reportBodies } from './bodies.mjs'

/** The least ratio that is wanted, by the number of connections. */
const wanted = (at1, at16, at64) => ({ 1: at1, 16: at16, 64: at64 })

/**
 * The requests that are compared. `floors` has the numbers of connections that a row is measured at,
 * and the least ratio of the API's rate to that of the bare Worker at each, if one is wanted.
 */
export function listRows(fixture) {
  const { api, withoutToken, bare, accountId, apiKey, keyId, deviceWithHistory } = fixture
  const device = cycle(fixture.devices.slice(1, 21))
  // More than connections, so that no two requests at a time are about the same one.
  const manyDevices = fixture.devices.slice(1, 100)
  const group = cycle(fixture.groups)
  const credentials = JSON.stringify({ userName: 'bench', apiKey })
  const alert = JSON.stringify({ alertName: 'LowBattery' })
  let edits = 0
  const report = (count, device) => {
    const [apiBody, bareBody] = [
      reportBodies(formatForApi, count),
      reportBodies(formatForStatement, count),
    ]
    return {
      locations: count,
      prepare: { api: apiBody.prepare, bare: bareBody.prepare },
      api: () => api('POST', `/api/devices/${device()}/locations`, apiBody()),
      bare: async () => {
        const { text } = await bare('POST', `/report/${accountId}/${device()}`, bareBody())
        if (text !== String(count))
          throw new Error(`the bare Worker stored ${text} of ${count} locations`)
      },
    }
  }
  // Shared by several rows: two generators would make the same times.
  const [one, thousand] = [report(1, cycle(manyDevices)), report(1000, device)]
  let time = Date.now() - 60 * 86_400_000
  const garminPush = () => {
    time += 1000
    edits += 1
    return JSON.stringify({
      Version: '2.0',
      Events: [
        {
          imei: `bench-${1 + (edits % manyDevices.length)}`,
          messageCode: 0,
          timeStamp: time,
          point: { latitude: 38.7, longitude: -9.1, altitude: 5, gpsFix: 2, course: 0, speed: 5 },
          status: { lowBattery: 0 },
        },
      ],
    })
  }
  const mixedReport = () => {
    time += 20_000
    return JSON.stringify({
      locations: Array.from({ length: 1000 }, (_, index) => ({
        identifier: `bench-${100 + (index % 100)}`,
        dateTime: new Date(time + Math.floor(index / 100) * 1000).toISOString(),
        latitude: 38.7,
        longitude: -9.1,
        speed: 12.5,
      })),
    })
  }
  /** The same report of an account with a rule, and of one without. */
  const judged = (count, { call, devices }, order) => {
    const [ruledBody, plainBody] = [
      reportBodies(formatForApi, count, order),
      reportBodies(formatForApi, count, order),
    ]
    const ruledDevice = cycle(devices)
    return {
      locations: count,
      prepare: { api: ruledBody.prepare, bare: plainBody.prepare },
      api: () => call('POST', `/api/devices/${ruledDevice()}/locations`, ruledBody()),
      bare: () => api('POST', `/api/devices/${device()}/locations`, plainBody()),
    }
  }
  const token = {
    api: () => withoutToken('POST', '/api/Auth/Token', credentials),
    bare: () => bare('GET', `/token/${accountId}/bench/${keyId}`),
  }
  const next = cycle(manyDevices)
  const oneDevice = {
    api: () => api('GET', `/api/devices/${next()}`),
    bare: () => bare('GET', `/device/${accountId}/${next()}`),
  }
  const lastLocation = {
    api: () => api('GET', `/api/devices/${next()}/lastLocation`),
    bare: () => bare('GET', `/lastLocation/${accountId}/${next()}`),
  }
  const mixed = [one, lastLocation, oneDevice, token]
  const [mixedApi, mixedBare] = [cycle(mixed), cycle(mixed)]
  return [
    { name: 'token', floors: wanted(0.85, 1.3, 1.8), ...token },
    { name: 'GET /api/devices/{id}', floors: wanted(0.85, 1.5, 1.8), ...oneDevice },
    { name: 'lastLocation', floors: wanted(0.85, 1.1, 1.8), ...lastLocation },
    { name: 'one location', floors: wanted(0.9, 1.3, 1.8), ...one },
    {
      name: 'mixed',
      floors: wanted(0.85, null, 1.8),
      prepare: one.prepare,
      api: () => mixedApi().api(),
      bare: () => mixedBare().bare(),
    },
    {
      name: 'device list, page of 100',
      floors: { 8: 0.6 },
      api: () => api('GET', '/api/devices?limit=100'),
      bare: () => bare('GET', `/devices/${accountId}`),
    },
    {
      name: 'Garmin push',
      floors: { 8: 0.7 },
      ...one,
      api: () => withoutToken('POST', fixture.pushPath, garminPush()),
    },
    {
      // Compared with 1000 locations of one device, by the API too.
      name: '1000 locations of 100 devices',
      floors: { 8: 0.65 },
      ...thousand,
      api: () => api('POST', '/api/locations', mixedReport()),
      bare: thousand.api,
    },
    {
      name: '1000 locations',
      floors: { 8: 0.75 },
      minLocationsPerSecond: 30_000,
      ...thousand,
    },
    {
      name: 'rule: one location, late',
      floors: { 8: 0.7 },
      ...judged(1, fixture.withRule, { afterDays: 60 }),
    },
    {
      name: 'rule: one location, remembered',
      floors: { 8: 0.9 },
      ...judged(1, fixture.withRule, { afterDays: 120, inOrder: true }),
    },
    {
      name: 'rule: 1000 locations, 100 zones',
      floors: { 8: 0.75 },
      ...judged(1000, fixture.withZones, { afterDays: 180 }),
    },
    {
      name: 'rule: one location, 100 rules on 20 zones of 1000',
      floors: { 8: null },
      ...judged(1, fixture.withRules, { afterDays: 240, inOrder: true }),
    },
    {
      name: 'history of 1000',
      floors: { 8: null },
      api: () => api('GET', `/api/devices/${deviceWithHistory}/locations?limit=1000`),
      bare: () => bare('GET', `/history/${accountId}/${deviceWithHistory}`),
    },
    {
      name: 'alert with two messages',
      floors: { 8: 0.9 },
      api: () => api('POST', `/api/devices/${device()}/alerts`, alert),
      bare: () => bare('POST', `/alert/${accountId}/${device()}`, ''),
    },
    {
      name: 'license grant',
      floors: { 8: null },
      api: () => api('POST', '/api/devices', `{"name":"Grant ${++edits}"}`),
      bare: () => bare('POST', `/grant/${accountId}`, ''),
    },
    {
      name: 'group patch',
      floors: { 8: null },
      api: () => api('PATCH', `/api/groups/${group()}`, `{"description":"${++edits}"}`),
      bare: () => bare('POST', `/group/${accountId}/${group()}`, String(++edits)),
    },
  ]
}

/**
 * The same requests to the API, and to the API not joined. Distance shows where a call waits for the
 * one before it: joining may not make that slower anywhere.
 */
export function listDelayedRows(fixture) {
  const notJoined = listRows({ ...fixture, ...fixture.notJoined })
  return listRows(fixture).map(({ name, floors, prepare, api }, index) => {
    const other = notJoined[index]
    const connections = 8 in floors ? [8] : [1, 4, 16, 64]
    return {
      name,
      floors: Object.fromEntries(connections.map((count) => [count, 0.97])),
      prepare: { api: prepare?.api, bare: other.prepare?.api },
      api,
      bare: other.api,
    }
  })
}

/** The rows whose names begin with one of those given, separated by commas; all without any. */
export const selectRows = (all, given) => {
  if (!given) return all
  const prefixes = given.split(',')
  const selected = all.filter(({ name }) => prefixes.some((prefix) => name.startsWith(prefix)))
  if (selected.length === 0) throw new Error(`no such row: ${given}`)
  return selected
}
