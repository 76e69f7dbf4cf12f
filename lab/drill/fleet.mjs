import { caller } from '../harness/http.mjs'
import { adminToken } from '../harness/server.mjs'

/** A small fleet that works: what a drill takes away and wants back. */
export async function openFleet(base, userName, cell) {
  const operator = caller(base, adminToken)
  const { account, apiKey } = await operator('POST', '/admin/accounts', {
    userName,
    name: userName,
    licenses: 20,
    timeZone: 'Europe/Lisbon',
    cell,
  })
  const { token } = await caller(base)('POST', '/api/Auth/Token', { userName, apiKey })
  return { id: account.id, userName, cell, token, call: caller(base, token) }
}

export async function createDevice(fleet, name) {
  const { device } = await fleet.call('POST', '/api/devices', { name, tags: { drill: 'yes' } })
  await report(fleet, device.id, 5)
  return device
}

let reported = 0
/** Within the retention of an account. */
const REPORTS_START = Date.now() - 300 * 86_400_000

export const report = (fleet, id, count) => {
  const at = () => new Date(REPORTS_START + ++reported * 60_000).toISOString()
  const locations = Array.from({ length: count }, () => ({
    dateTime: at(),
    latitude: 38.7 + reported / 1e4,
    longitude: -9.1,
  }))
  return fleet.call('POST', `/api/devices/${id}/locations`, { locations })
}

/** What a working day leaves behind: something made, edited, expired and deleted, and new tracks. */
export async function work(fleet, devices) {
  const [edited, expired, deleted, moving] = devices
  await fleet.call('PATCH', `/api/devices/${edited.id}`, { name: `${edited.name}, renamed` })
  await fleet.call('PATCH', `/api/devices/${expired.id}`, {
    limits: { expires: true, expirationDate: '2026-01-01' },
  })
  await fleet.call('DELETE', `/api/devices/${deleted.id}`)
  await report(fleet, moving.id, 7)
  await createDevice(fleet, `Newer of ${fleet.userName}`)
}

/** Holds every cell against its ledgers, then every account that is known by name: a cell set back knows nothing of the newest. */
export async function reconcile(base, cells, accountIds, restored) {
  const operator = caller(base, adminToken)
  const total = { unknown: [], mended: {} }
  const add = (mended) => {
    for (const [name, count] of Object.entries(mended))
      if (count > 0) total.mended[name] = (total.mended[name] ?? 0) + count
  }
  for (let cell = 0; cell < cells; cell++) {
    for (let cursor; cursor !== null; ) {
      const page = await operator('POST', `/admin/cells/${cell}/reconcile`, {
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
    add((await operator('POST', `/admin/accounts/${id}/reconcile`, {})).mended)
  }
  return total
}
