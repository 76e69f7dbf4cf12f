import { CHANNELS } from '../domain/message/alert.ts'
import { parseEmergencySettings } from '../domain/message/emergency.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import { findEmergencies } from '../domain/message/reportedEmergency.ts'
import type { Location } from '../domain/track/location.ts'
import { derivedAlertId } from '../ids.ts'

export interface EmergencyReport {
  device: { deviceId: string }
  locations: Location[]
  origin: string
}

const MAX_TEXT_LENGTH = 2000

/** What the device says about its alerts, as one line. */
const textOf = ({ alertTexts = [] }: Location): string =>
  alertTexts
    .join(', ')
    .replaceAll(/\p{Cc}+/gu, ' ')
    .slice(0, MAX_TEXT_LENGTH)

/**
 * The alerts that a report raises, by the account's stored settings: one for each name, at the place
 * of the location that carries it.
 */
export const raisesOf = (
  { device: { deviceId }, locations, origin }: EmergencyReport,
  settings: string | null,
): Promise<PendingRaise[]> => {
  const { emergencyAlerts } = parseEmergencySettings(settings)
  return Promise.all(
    findEmergencies(locations, emergencyAlerts).map(async ({ name, location }) => {
      const { dateTime, latitude, longitude, speed, course, accuracy } = location
      return {
        deviceId,
        alert: {
          id: await derivedAlertId(deviceId, name, dateTime),
          name,
          text: textOf(location),
          dateTime,
        },
        emergency: true,
        reported: { time: dateTime, latitude, longitude, speed, course, accuracy },
        notifications: [...CHANNELS],
        origin,
      }
    }),
  )
}
