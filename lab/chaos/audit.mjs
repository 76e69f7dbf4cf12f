import { describeDifferences, readAccountState } from '../harness/accountState.mjs'
import { listAll } from '../harness/http.mjs'
import { sendOnce } from './operations.mjs'

/** Compares the devices that must exist with those that the service lists. */
export async function auditDevices(call, expectedDevices) {
  const faults = { lost: [], duplicated: [] }
  const listed = Map.groupBy(await listAll(call, '/api/devices', 'devices'), ({ name }) => name)
  for (const expected of expectedDevices) {
    const { name } = expected
    const found = listed.get(name) ?? []
    listed.delete(name)
    const mustExist = expected.id !== null && !expected.isDeleted
    if (found.length > (mustExist ? 1 : 0))
      faults.duplicated.push(`${name} exists ${found.length} times`)
    if (!mustExist) continue
    const [device] = found
    if (!device) faults.lost.push(`${name} was acknowledged and does not exist`)
    else if (device.id !== expected.id)
      faults.duplicated.push(`${name} has another id than was acknowledged`)
    else if (device.description !== expected.description)
      faults.lost.push(`${name}: an acknowledged edit is missing`)
    else if ((device.state === 'expired') !== expected.isExpired)
      faults.lost.push(`${name} is ${device.state}, which was not acknowledged`)
    else await auditTrack(call, expected, faults)
  }
  for (const name of listed.keys()) faults.duplicated.push(`${name} was never requested`)
  return faults
}

async function auditTrack(call, { id, name, times }, faults) {
  const locations = await listAll(call, `/api/devices/${id}/locations`, 'locations')
  const stored = new Set(locations.map(({ dateTime }) => dateTime))
  const found = [...times].filter((time) => stored.has(time)).length
  const missing = times.size - found
  const unexpected = locations.length - found
  if (missing > 0) faults.lost.push(`${name}: ${missing} acknowledged locations are missing`)
  if (unexpected > 0) faults.duplicated.push(`${name}: ${unexpected} locations too many`)
}

/**
 * Replays the license log: every entry must follow from the one before, and none may exceed the
 * total.
 */
export async function auditLicenses(call) {
  const faults = []
  const entries = (await listAll(call, '/api/account/licenses/log', 'entries')).reverse()
  const holders = new Set()
  for (const { what, deviceId, used, total, sequence } of entries) {
    if (what === 'granted' && holders.has(deviceId))
      faults.push(`entry ${sequence}: ${deviceId} is granted a second license`)
    if (what === 'granted') holders.add(deviceId)
    if (what === 'released' || what === 'expired') holders.delete(deviceId)
    if (used > total) faults.push(`entry ${sequence}: ${used} of ${total} licenses in use`)
    if (used !== holders.size)
      faults.push(`entry ${sequence}: shows ${used} in use, but ${holders.size} devices hold one`)
  }
  const { account } = await call('GET', '/api/account')
  const active = (await listAll(call, '/api/devices?state=active', 'devices')).length
  if (account.licenses.used !== active)
    faults.push(`the account shows ${account.licenses.used} in use, but ${active} are active`)
  if (holders.size !== active)
    faults.push(`by the log ${holders.size} devices hold a license, but ${active} are active`)
  return { faults, entries: entries.length }
}

/** One sentence for each kind of row in which the cell differs from the ledger. */
export async function auditCell(callAsOperator, accountId) {
  const counts = {}
  for (let cursor; cursor !== null; ) {
    const { mended, nextCursor } = await callAsOperator(
      'POST',
      `/admin/accounts/${accountId}/reconcile`,
      cursor ? { cursor } : {},
    )
    for (const [name, count] of Object.entries(mended)) counts[name] = (counts[name] ?? 0) + count
    cursor = nextCursor
  }
  return Object.entries(counts).flatMap(([name, count]) =>
    count > 0 ? [`${count} × ${name} differed from the ledger`] : [],
  )
}

/**
 * Repeats every answered request with a key, in another order: each must get the same reply and
 * change nothing.
 */
export async function auditReplay({ base, token, call, requests, random }) {
  const faults = []
  const repeatable = requests.filter(({ key, reply }) => key && reply)
  const before = await readAccountState(call)
  for (let index = repeatable.length - 1; index > 0; index--) {
    const other = random.int(0, index)
    ;[repeatable[index], repeatable[other]] = [repeatable[other], repeatable[index]]
  }
  for (const request of repeatable) {
    const reply = await sendOnce(base, token, request)
    const name = `${request.kind} of ${request.device.name}`
    if (reply?.headers['idempotent-replayed'] !== 'true') faults.push(`${name} was not replayed`)
    else if (
      reply.status !== request.reply.status ||
      withoutRequestId(reply) !== withoutRequestId(request.reply)
    )
      faults.push(`${name} got another reply the second time`)
  }
  for (const difference of describeDifferences(before, await readAccountState(call)))
    faults.push(`replaying changed ${difference}`)
  return { faults, replayed: repeatable.length }
}

const withoutRequestId = ({ text }) => text.replace(/"requestId":"[^"]*"/, '')
