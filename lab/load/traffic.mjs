import { openAccount } from '../harness/http.mjs'
import { createRandom } from '../harness/random.mjs'
import { adminToken } from '../harness/server.mjs'
import { sendTimed } from './openLoop.mjs'

const ACCOUNTS = 20
const DEVICES_PER_ACCOUNT = 5

/**
 * Opens accounts that report and read. The first sends as much as all others together, so that it
 * reaches its rate limit first.
 */
export async function openTraffic(base, seed) {
  const random = createRandom(seed)
  let time = Date.now() - 100 * 86_400_000
  const first = { dateTime: new Date(time).toISOString(), latitude: 38.7, longitude: -9.1 }
  const accounts = []
  for (let index = 0; index < ACCOUNTS; index++) {
    const { token, call } = await openAccount(base, adminToken, {
      userName: `load-${index}`,
      licenses: DEVICES_PER_ACCOUNT,
    })
    const devices = []
    for (let device = 0; device < DEVICES_PER_ACCOUNT; device++) {
      const { id } = (await call('POST', '/api/devices', { name: `Tern ${device}` })).device
      await call('POST', `/api/devices/${id}/locations`, first)
      devices.push({ id, call, acknowledged: new Set() })
    }
    accounts.push({ headers: { Authorization: `Bearer ${token}` }, devices })
  }

  const report = async ({ headers }, device) => {
    time += 1000
    const dateTime = new Date(time).toISOString()
    const outcome = await sendTimed(base, {
      method: 'POST',
      path: `/api/devices/${device.id}/locations`,
      headers: { ...headers, 'Content-Type': 'application/json' },
      body: JSON.stringify({ dateTime, latitude: 38.7, longitude: -9.1 }),
    })
    if (outcome.status === 201) device.acknowledged.add(dateTime)
    return outcome
  }
  const next = (account = random.chance(0.5) ? accounts[0] : random.pick(accounts)) => {
    const device = random.pick(account.devices)
    const kind = random.pickWeighted({ report: 6, last: 3, list: 1 })
    if (kind === 'report') return report(account, device)
    const path =
      kind === 'last' ? `/api/devices/${device.id}/lastLocation` : '/api/devices?limit=20'
    return sendTimed(base, { method: 'GET', path, headers: account.headers })
  }
  return {
    next,
    /** A request of an account that is far from its rate limit. */
    nextOfQuietAccount: () => next(accounts.at(-1)),
    devices: accounts.flatMap(({ devices }) => devices),
  }
}
