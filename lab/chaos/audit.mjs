import { differences, readState, walk } from '../harness/state.mjs'
import { attempt } from './deeds.mjs'

/** What the books say must be there, held against what the service shows. */
export async function auditDevices(call, devices) {
  const faults = { lost: [], double: [] }
  const shown = Map.groupBy(await walk(call, '/api/devices', 'devices'), ({ name }) => name)
  for (const device of devices) {
    const found = shown.get(device.name) ?? []
    shown.delete(device.name)
    const stands = device.id !== null && !device.gone
    if (found.length > (stands ? 1 : 0))
      faults.double.push(`${device.name} is there ${found.length} times`)
    if (!stands) continue
    const [one] = found
    if (!one) faults.lost.push(`${device.name} was acknowledged and is not there`)
    else if (one.id !== device.id)
      faults.double.push(`${device.name} is another one than was acknowledged`)
    else if (one.description !== device.description)
      faults.lost.push(`${device.name}: an acknowledged edit is not there`)
    else if ((one.state === 'expired') !== device.expired)
      faults.lost.push(`${device.name} is ${one.state}, against what was acknowledged`)
    else await auditTrack(call, device, faults)
  }
  for (const name of shown.keys())
    faults.double.push(`${name} was never acknowledged nor asked for`)
  return faults
}

async function auditTrack(call, device, faults) {
  const times = (await walk(call, `/api/devices/${device.id}/locations`, 'locations')).map(
    ({ dateTime }) => dateTime,
  )
  const stored = new Set(times)
  const missing = [...device.times].filter((at) => !stored.has(at)).length
  const strange = times.length - [...device.times].filter((at) => stored.has(at)).length
  if (missing > 0)
    faults.lost.push(`${device.name}: ${missing} acknowledged locations are not there`)
  if (strange > 0) faults.double.push(`${device.name}: ${strange} locations too many`)
}

/** The license log from its beginning: every line must follow from the one before, and none may be over the total. */
export async function auditLicenses(call) {
  const faults = []
  const lines = (await walk(call, '/api/account/licenses/log', 'entries')).reverse()
  const holders = new Set()
  for (const { what, deviceId, used, total, sequence } of lines) {
    if (what === 'granted' && holders.has(deviceId))
      faults.push(`line ${sequence}: ${deviceId} is granted a second license`)
    if (what === 'granted') holders.add(deviceId)
    if (what === 'released' || what === 'expired') holders.delete(deviceId)
    if (used > total) faults.push(`line ${sequence}: ${used} of ${total} licenses in use`)
    if (used !== holders.size)
      faults.push(`line ${sequence}: says ${used} in use, and ${holders.size} hold one`)
  }
  const { account } = await call('GET', '/api/account')
  const active = (await walk(call, '/api/devices?state=active', 'devices')).length
  if (account.licenses.used !== active)
    faults.push(
      `the account says ${account.licenses.used} in use, and ${active} devices are active`,
    )
  if (holders.size !== active)
    faults.push(`by the log ${holders.size} hold a license, and ${active} devices are active`)
  return { faults, lines: lines.length }
}

/** How many rows of the cell differ from the ledger. */
export async function auditCell(operator, accountId) {
  const counts = {}
  for (let cursor; cursor !== null; ) {
    const { mended, nextCursor } = await operator(
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

/** Everything that was answered, once more and in another order: each must answer as it did, and do nothing. */
export async function auditReplay({ base, token, call, deeds, random }) {
  const faults = []
  const keyed = deeds.filter(({ key, reply }) => key && reply)
  const before = await readState(call)
  for (let index = keyed.length - 1; index > 0; index--) {
    const other = random.int(0, index)
    ;[keyed[index], keyed[other]] = [keyed[other], keyed[index]]
  }
  for (const deed of keyed) {
    const reply = await attempt(base, token, deed)
    if (reply?.headers['idempotent-replayed'] !== 'true')
      faults.push(`${deed.kind} of ${deed.device.name} was not replayed`)
    else if (
      reply.status !== deed.reply.status ||
      withoutRequestId(reply) !== withoutRequestId(deed.reply)
    )
      faults.push(`${deed.kind} of ${deed.device.name} answered otherwise the second time`)
  }
  for (const what of differences(before, await readState(call)))
    faults.push(`replaying changed ${what}`)
  return { faults, replayed: keyed.length }
}

const withoutRequestId = ({ text }) => text.replace(/"requestId":"[^"]*"/, '')
