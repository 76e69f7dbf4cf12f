import { onTheWire, packed, reports } from './bodies.mjs'
import { turnsOf } from './rate.mjs'

/** What is compared, and how near to bare it is to come. */
export function rows({ api, open, bare, accountId, apiKey, keyId, devices, historied, groups }) {
  const device = turnsOf(devices.slice(1, 21))
  const group = turnsOf(groups)
  const credentials = JSON.stringify({ userName: 'bench', apiKey })
  const alert = JSON.stringify({ alertName: 'LowBattery' })
  let edits = 0
  const report = (count) => {
    const [ours, theirs] = [reports(onTheWire, count), reports(packed, count)]
    return {
      locations: count,
      prepare: { api: ours.prepare, bare: theirs.prepare },
      api: () => api('POST', `/api/devices/${device()}/locations`, ours()),
      bare: async () => {
        const { text } = await bare('POST', `/report/${accountId}/${device()}`, theirs())
        if (text !== String(count))
          throw new Error(`the bare Worker stored ${text} of ${count} locations`)
      },
    }
  }
  return [
    {
      name: 'token',
      floor: 0.5,
      api: () => open('POST', '/api/Auth/Token', credentials),
      bare: () => bare('GET', `/token/${accountId}/bench/${keyId}`),
    },
    {
      name: 'GET /api/devices/{id}',
      floor: 0.5,
      api: () => api('GET', `/api/devices/${device()}`),
      bare: () => bare('GET', `/device/${accountId}/${device()}`),
    },
    {
      name: 'device list, page of 100',
      floor: 0.6,
      api: () => api('GET', '/api/devices?limit=100'),
      bare: () => bare('GET', `/devices/${accountId}`),
    },
    {
      name: 'lastLocation',
      floor: 0.75,
      api: () => api('GET', `/api/devices/${device()}/lastLocation`),
      bare: () => bare('GET', `/lastLocation/${accountId}/${device()}`),
    },
    { name: 'one location', floor: 0.75, ...report(1) },
    { name: '1000 locations', floor: 0.6, leastLocations: 30_000, ...report(1000) },
    {
      name: 'history of 1000',
      api: () => api('GET', `/api/devices/${historied}/locations?limit=1000`),
      bare: () => bare('GET', `/history/${accountId}/${historied}`),
    },
    {
      name: 'alert with two messages',
      api: () => api('POST', `/api/devices/${device()}/alerts`, alert),
      bare: () => bare('POST', `/alert/${accountId}/${device()}`, ''),
    },
    {
      name: 'license grant',
      api: () => api('POST', '/api/devices', `{"name":"Grant ${++edits}"}`),
      bare: () => bare('POST', `/grant/${accountId}`, ''),
    },
    {
      name: 'group patch',
      api: () => api('PATCH', `/api/groups/${group()}`, `{"description":"${++edits}"}`),
      bare: () => bare('POST', `/group/${accountId}/${group()}`, String(++edits)),
    },
  ]
}

/** The rows whose names begin with one of those given, separated by commas; all without any. */
export const chosenRows = (all, given) => {
  if (!given) return all
  const beginnings = given.split(',')
  const chosen = all.filter(({ name }) =>
    beginnings.some((beginning) => name.startsWith(beginning)),
  )
  if (chosen.length === 0) throw new Error(`no such row: ${given}`)
  return chosen
}
