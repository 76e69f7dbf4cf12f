import type { Alert } from '../api/types.ts'

export interface Place {
  dateTime: string
  latitude: number
  longitude: number
}

const placed = (
  dateTime: string,
  { latitude, longitude }: { latitude: number | null; longitude: number | null },
): Place[] => (latitude === null || longitude === null ? [] : [{ dateTime, latitude, longitude }])

type Signalled = Pick<
  Alert,
  'dateTime' | 'positionTime' | 'latitude' | 'longitude' | 'updates' | 'newestPosition'
>

/**
 * The newest of the places that the emergency came with, those of the signals that joined it, the
 * newest that the service knew when it was read, and the device's last position.
 */
export const newestPlace = (alert: Signalled, position: Place | undefined): Place | null =>
  [
    ...placed(alert.positionTime ?? alert.dateTime, alert),
    ...alert.updates.flatMap((update) => placed(update.dateTime, update)),
    ...(alert.newestPosition ? placed(alert.newestPosition.dateTime, alert.newestPosition) : []),
    ...(position ? [position] : []),
  ].reduce<Place | null>(
    (newest, one) => (newest === null || one.dateTime > newest.dateTime ? one : newest),
    null,
  )
