import type { StoredLocation } from '../domain/location.ts'
import { iso } from '../http/wire.ts'

export const presentLocation = ({ dateTime, receivedAt, ...fields }: StoredLocation) => ({
  dateTime: iso(dateTime),
  ...fields,
  receivedAt: iso(receivedAt),
})
