import type { Device, Location } from '../../../api/types.ts'
import { bearingBetween, distanceBetween, type Place } from '../../map/track/trackMath.ts'

/* Which other devices are close enough to help. */

const MAX_SHOWN = 5

export interface Neighbour<Member> {
  member: Member
  device: Device & { lastLocation: Location }
  metres: number
  /** The direction to go from the emergency, in degrees. */
  bearing: number
}

/** The nearest devices to a place, the nearest first. `exceptId` is the device in distress. */
export const findNearest = <Member extends { device: Device }>(
  members: readonly Member[],
  place: Place,
  exceptId: string,
): Neighbour<Member>[] =>
  members
    .flatMap((member) => {
      const { device } = member
      const { lastLocation } = device
      if (!lastLocation || device.id === exceptId) return []
      const metres = distanceBetween(place, lastLocation)
      return [{ member, device: { ...device, lastLocation }, metres }]
    })
    .sort((a, b) => a.metres - b.metres)
    .slice(0, MAX_SHOWN)
    .map((found) => ({ ...found, bearing: bearingBetween(place, found.device.lastLocation) }))
