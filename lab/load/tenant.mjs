import { openAccount } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

const DAY_MS = 86_400_000
export const LICENSES = 100

/** Returns a function that gives times one second apart. */
export const timesSince = (daysAgo) => {
  let time = Date.now() - daysAgo * DAY_MS
  return () => {
    time += 1000
    return new Date(time).toISOString()
  }
}

/** An account with one device. */
export async function openTenant(base, userName) {
  const { call, token } = await openAccount(base, adminToken, { userName, licenses: LICENSES })
  const { device } = await call('POST', '/api/devices', { name: 'Tern' })
  const headers = { Authorization: `Bearer ${token}` }
  return { base, call, token, headers, deviceId: device.id, device: `/api/devices/${device.id}` }
}
