import { caller, openAccount } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

export const openFleet = (base, userName, cell) =>
  openAccount(base, adminToken, { userName, licenses: 20, timeZone: 'Europe/Lisbon', cell })

export async function createDevice(fleet, name) {
  const { device } = await fleet.call('POST', '/api/devices', { name, tags: { drill: 'yes' } })
  await report(fleet, device.id, 5)
  return device
}

let reportedCount = 0
const FIRST_TIME = Date.now() - 100 * 86_400_000

export const report = (fleet, id, count) => {
  const nextTime = () => new Date(FIRST_TIME + ++reportedCount * 60_000).toISOString()
  const locations = Array.from({ length: count }, () => ({
    dateTime: nextTime(),
    latitude: 38.7 + reportedCount / 1e4,
    longitude: -9.1,
  }))
  return fleet.call('POST', `/api/devices/${id}/locations`, { locations })
}

/**
 * Changes a fleet as a day of use does: creates, edits, expires and deletes a device, and reports
 * locations.
 */
export async function changeFleet(fleet, devices) {
  const [edited, expired, deleted, moving] = devices
  await fleet.call('PATCH', `/api/devices/${edited.id}`, { name: `${edited.name}, renamed` })
  await fleet.call('PATCH', `/api/devices/${expired.id}`, {
    limits: { expires: true, expirationDate: '2026-01-01' },
  })
  await fleet.call('DELETE', `/api/devices/${deleted.id}`)
  await report(fleet, moving.id, 7)
  await createDevice(fleet, `Newer of ${fleet.userName}`)
}

/**
 * Reconciles every cell with its ledgers, then the accounts given, because a restored cell does not
 * list the newest ones.
 */
export async function reconcile(base, { cells, accountIds = [], restored }) {
  const callAsOperator = caller(base, adminToken)
  const total = { unknown: [], mended: {} }
  const add = (mended) => {
    for (const [name, count] of Object.entries(mended))
      if (count > 0) total.mended[name] = (total.mended[name] ?? 0) + count
  }
  for (let cell = 0; cell < cells; cell++) {
    for (let cursor; cursor !== null; ) {
      const page = await callAsOperator('POST', `/admin/cells/${cell}/reconcile`, {
        restored,
        ...(cursor && { cursor }),
      })
      add(page.mended)
      total.unknown.push(...page.unknown)
      cursor = page.nextCursor
    }
  }
  for (const id of accountIds) {
    if (total.unknown.includes(id)) continue
    add((await callAsOperator('POST', `/admin/accounts/${id}/reconcile`, {})).mended)
  }
  return total
}
