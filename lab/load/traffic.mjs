import { random } from '../fuzz/random.mjs'
import { caller } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'
import { ask } from './openLoop.mjs'

const ACCOUNTS = 20
const DEVICES = 5
/** Within the retention of an account. */
const REPORTS_START = Date.now() - 300 * 86_400_000

/** Accounts that report and read. The first sends as much as all the others together: it meets its own limit before anyone else's. */
export async function openTraffic(base, seed) {
  const chance = random(seed)
  const accounts = []
  for (let index = 0; index < ACCOUNTS; index++) {
    const userName = `load-${index}`
    const { apiKey } = await caller(base, adminToken)('POST', '/admin/accounts', {
      userName,
      name: userName,
      licenses: DEVICES,
      timeZone: 'UTC',
    })
    const { token } = await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })
    const call = caller(base, token)
    const devices = []
    for (let device = 0; device < DEVICES; device++) {
      const { id } = (await call('POST', '/api/devices', { name: `Tern ${device}` })).device
      await call('POST', `/api/devices/${id}/locations`, {
        dateTime: new Date(REPORTS_START).toISOString(),
        latitude: 38.7,
        longitude: -9.1,
      })
      devices.push({ id, call, acknowledged: new Set() })
    }
    accounts.push({ headers: { Authorization: `Bearer ${token}` }, devices })
  }
  let at = REPORTS_START

  const report = async ({ headers }, device) => {
    at += 1000
    const dateTime = new Date(at).toISOString()
    const outcome = await ask(base, {
      method: 'POST',
      path: `/api/devices/${device.id}/locations`,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ dateTime, latitude: 38.7, longitude: -9.1 }),
    })
    if (outcome.status === 201) device.acknowledged.add(dateTime)
    return outcome
  }
  const next = (account = chance.chance(0.5) ? accounts[0] : chance.pick(accounts)) => {
    const device = chance.pick(account.devices)
    const kind = chance.weighed({ report: 6, last: 3, list: 1 })
    if (kind === 'report') return report(account, device)
    const path =
      kind === 'last' ? `/api/devices/${device.id}/lastLocation` : '/api/devices?limit=20'
    return ask(base, { method: 'GET', path, headers: account.headers })
  }
  return {
    next,
    quiet: () => next(accounts.at(-1)),
    devices: accounts.flatMap(({ devices }) => devices),
  }
}
