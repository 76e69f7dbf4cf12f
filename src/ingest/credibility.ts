import { packedFix } from '../db/queries/fixes.ts'
import type { PackedLocation } from '../db/queries/locations.ts'
import type { QuarantineReason } from '../domain/account/source.ts'
import { findFault, findTooFast } from '../domain/track/credible.ts'
import type { DeviceTrack } from '../rules/evaluate/tracks.ts'
import { findNeighbours } from '../rules/evaluate/window.ts'
import type { DeviceArrivals } from './arrival.ts'
import type { Quarantined } from './quarantine.ts'

/* Which locations cannot be true: they are quarantined, and neither stored nor evaluated. */

/** Why each of some packed locations is not credible. */
export type Incredible = Map<PackedLocation, QuarantineReason>

/** Those that are wrong by themselves, whatever their neighbours. */
export const findFaults = (devices: DeviceArrivals[], rows: PackedLocation[][]): Incredible => {
  const faults: Incredible = new Map()
  for (const [part, { arrivals }] of devices.entries())
    for (const [at, { receivedAt }] of arrivals.entries()) {
      const row = rows[part]?.[at]
      const reason = row && findFault(packedFix(row), receivedAt)
      if (reason) faults.set(row, reason)
    }
  return faults
}

/** Takes those that need too high a speed from what was sent of the device. */
export const separateTooFast = (
  track: DeviceTrack,
  rows: PackedLocation[][],
  incredible: Incredible,
): void => {
  const { sent, window, device, parts } = track
  const times = findTooFast(sent, (time) => findNeighbours(window, time), device.maxSpeed)
  if (times.size === 0) return
  track.sent = sent.filter(({ time }) => !times.has(time))
  for (const row of parts.flatMap((part) => rows[part] ?? []))
    if (times.has(row[0] as number) && !incredible.has(row)) incredible.set(row, 'speed')
}

/** What of the devices' arrivals is quarantined. Of a device that is not active, nothing is. */
export const toQuarantined = (
  devices: DeviceArrivals[],
  rows: PackedLocation[][],
  tracks: DeviceTrack[],
  incredible: Incredible,
): Quarantined[] =>
  tracks.flatMap(({ device, parts }) =>
    parts.flatMap((part) =>
      (rows[part] ?? []).flatMap((packed, at) => {
        const reason = incredible.get(packed)
        const receivedAt = devices[part]?.arrivals[at]?.receivedAt ?? 0
        return reason ? [{ device, packed, reason, receivedAt }] : []
      }),
    ),
  )
