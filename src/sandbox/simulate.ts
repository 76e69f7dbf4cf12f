import { SANDBOX_FLEET } from '../domain/sandbox/fleet.ts'
import { locationAt, reportTimes } from '../domain/sandbox/travel.ts'
import type { DeviceArrivals } from '../ingest/arrival.ts'
import { ingest } from '../ingest/ingest.ts'
import type { ServiceContext } from '../serviceContext.ts'
import type { SimulatedAccount } from './store.ts'

const MINUTE_MS = 60_000
const MAX_GAP_MS = 24 * 60 * MINUTE_MS
/** A longer gap is filled with fewer locations, so that one report has them all. */
const SHORT_GAP_MS = 120 * MINUTE_MS
const EVERY_MINUTES_IN_GAP = 20

/**
 * Reports where the devices of a sandbox have been since their last locations, at most for a day. A
 * device that was deleted, or that has another identifier by now, stays where it is.
 */
export const simulate = async (
  context: ServiceContext,
  { creation, lastTimes }: SimulatedAccount,
): Promise<void> => {
  const now = context.now()
  const devices: DeviceArrivals[] = []
  for (const one of SANDBOX_FLEET) {
    const lastAt = lastTimes.get(one.identifier)
    if (lastAt === undefined) continue
    const from = Math.max(lastAt ?? 0, now - MAX_GAP_MS)
    const isLong = now - from > SHORT_GAP_MS
    const pace = isLong ? { everyMinutes: EVERY_MINUTES_IN_GAP } : one
    const arrivals = reportTimes(pace, from, now).map((at) => ({
      location: locationAt({ ...one, epoch: creation }, at),
      receivedAt: now,
    }))
    if (arrivals.length === 0) continue
    const eventId = await context.newId('evt')
    const { identifier } = one
    devices.push({ deviceId: null, identifier, eventId, contact: now, arrivals })
  }
  if (devices.length > 0) await ingest(context, devices, { now, skipsLongWindows: true })
}
