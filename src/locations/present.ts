import { iso } from '../domain/time/iso.ts'
import type { StoredLocation } from '../domain/track/location.ts'

/** The two instants keep their places, first and last. */
export const presentLocation = (location: StoredLocation) => ({
  ...location,
  dateTime: iso(location.dateTime),
  receivedAt: iso(location.receivedAt),
})
