import { openAccount } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

/** The time of a fleet's first location, within the retention of an account. */
export const FIRST_TIME = Date.now() - 300 * 86_400_000

/** Opens an account with one device that has reported. seed.mjs copies the rest of the fleet. */
export async function openFleet(base, userName, { cell = 0, licenses = 2_000_000 } = {}) {
  const account = await openAccount(base, adminToken, { userName, licenses, cell })
  const { device } = await account.call('POST', '/api/devices', { name: 'First' })
  const dateTime = new Date(FIRST_TIME).toISOString()
  const location = { dateTime, latitude: 38.7, longitude: -9.1 }
  await account.call('POST', `/api/devices/${device.id}/locations`, location)
  return { accountId: account.id, token: account.token, deviceId: device.id }
}
