import { iso } from '../domain/iso.ts'
import type { StoredLocation } from '../domain/location.ts'

export const presentLocation = ({ dateTime, receivedAt, ...fields }: StoredLocation) => ({
  dateTime: iso(dateTime),
  ...fields,
  receivedAt: iso(receivedAt),
})
