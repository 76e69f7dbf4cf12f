import { openAccount } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

/** Opens an account with one device that has reported. seed.mjs copies the rest of the fleet. */
export async function openFleet(base, userName, { cell = 0, licenses = 2_000_000 } = {}) {
  const account = await openAccount(base, adminToken, { userName, licenses, cell })
  const { device } = await account.call('POST', '/api/devices', { name: 'First' })
  const location = { dateTime: '2026-01-01T00:00:00.000Z', latitude: 38.7, longitude: -9.1 }
  await account.call('POST', `/api/devices/${device.id}/locations`, location)
  return { accountId: account.id, token: account.token, deviceId: device.id }
}
