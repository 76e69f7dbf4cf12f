import { fold } from '../domain/text/fold.ts'
import { type Location, MAX_REJECTIONS } from '../domain/track/location.ts'
import { Problem } from '../http/contract/problem.ts'
import type { DeviceArrivals, Status } from '../ingest/arrival.ts'
import { ingest } from '../ingest/ingest.ts'
import { raisesInLocations } from '../ingest/raises.ts'
import type { ServiceContext } from '../serviceContext.ts'
import type { AddressedLocation } from './forms.ts'
import { presentLocation } from './present.ts'

/* Reports by the API, and what they are answered. */

/**
 * The locations of a report, by their devices, so that each device is looked up once. `parts` has
 * the position of each location's device.
 */
const groupByDevice = async (
  context: ServiceContext,
  sent: readonly AddressedLocation[],
  now: number,
): Promise<{ devices: DeviceArrivals[]; parts: number[] }> => {
  const devices: DeviceArrivals[] = []
  const known = new Map<string, number>()
  // Names as they were sent: most are sent several times, and are folded once.
  const [ids, identifiers] = [new Map<string, number>(), new Map<string, number>()]
  const parts: number[] = []
  for (const { deviceId, identifier, location } of sent) {
    const [names, name] = deviceId === null ? [identifiers, identifier ?? ''] : [ids, deviceId]
    let part = names.get(name)
    if (part === undefined) {
      const key = deviceId === null ? `i ${fold(name)}` : `d ${name}`
      part = known.get(key)
      if (part === undefined) {
        const eventId = await context.newId('evt')
        part = devices.push({ deviceId, identifier, eventId, contact: now, arrivals: [] }) - 1
        known.set(key, part)
      }
      names.set(name, part)
    }
    devices[part]?.arrivals.push({ location, receivedAt: now })
    parts.push(part)
  }
  return { devices, parts }
}

const storeReport = async (context: ServiceContext, devices: DeviceArrivals[], now: number) => {
  const raisesBy = await raisesInLocations(context.db, context, devices, () => context.origin)
  return ingest(context, devices, { raisesBy, now })
}

const countStatuses = (statuses: Status[]) => {
  const counts: Partial<Record<Status, number>> = {}
  for (const status of statuses) counts[status] = (counts[status] ?? 0) + 1
  const { accepted = 0, duplicate: duplicates = 0, conflict: conflicts = 0, tooOld = 0 } = counts
  return { accepted, duplicates, conflicts, tooOld }
}

/** Those that were not accepted, by their position in the report. */
const listRejections = <Rejection extends Status>(
  statuses: Status[],
  isListed: (status: Status) => status is Rejection,
) => statuses.flatMap((status, index) => (isListed(status) ? [{ index, status }] : []))

type OwnRejection = Exclude<Status, 'accepted' | 'quarantined' | 'unknown' | 'refused'>
type Rejection = Exclude<Status, 'accepted' | 'quarantined'>

/** A report of one device. */
export const reportOfDevice = async (
  context: ServiceContext,
  deviceId: string,
  reported: Location[],
) => {
  const now = context.now()
  const eventId = await context.newId('evt')
  const arrivals = reported.map((location) => ({ location, receivedAt: now }))
  const device = { deviceId, identifier: null, eventId, contact: now, arrivals }
  const { statuses, stored, alertId } = await storeReport(context, [device], now)
  const own = statuses[0] ?? []
  if (own[0] === 'unknown') throw new Problem('device-not-found')
  // The location of an expired device is refused, and yet its emergency is raised.
  if (own[0] === 'refused')
    throw new Problem('device-expired', alertId ? { members: { alertId } } : {})
  const counts = countStatuses(own)
  // A report that has raised an emergency was of use, though nothing of it is stored.
  if (counts.tooOld === own.length && !alertId) throw new Problem('report-too-old')
  if (counts.accepted === own.length)
    return { ...counts, ...(stored && { locations: [presentLocation(stored)] }) }
  const results = listRejections(own, (status): status is OwnRejection => status !== 'accepted')
  return {
    ...counts,
    results: results.slice(0, MAX_REJECTIONS),
    ...(stored && { locations: [presentLocation(stored)] }),
  }
}

const REFUSALS = { unknown: 'device-not-found', refused: 'device-expired' } as const

/** A report of many devices. */
export const reportOfMany = async (context: ServiceContext, sent: AddressedLocation[]) => {
  const now = context.now()
  const { devices, parts } = await groupByDevice(context, sent, now)
  const outcome = await storeReport(context, devices, now)
  const ofDevices = outcome.statuses.map((own) => own.values())
  const statuses = parts.map((part): Status => ofDevices[part]?.next().value ?? 'unknown')
  const rejections = listRejections(
    statuses,
    (status): status is Rejection => status !== 'accepted',
  )
  const isOf = (status: Status) => rejections.filter((one) => one.status === status).length
  return {
    ...countStatuses(statuses),
    unknown: isOf('unknown'),
    refused: isOf('refused'),
    results: rejections.map(({ index, status }) => ({
      index,
      status,
      ...((status === 'unknown' || status === 'refused') && { code: REFUSALS[status] }),
    })),
  }
}
