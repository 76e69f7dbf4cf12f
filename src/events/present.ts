import { iso } from '../domain/iso.ts'
import { presentLocation } from '../locations/present.ts'
import type { LoggedEvent } from './store.ts'

const dataOf = ({ type, data, location }: LoggedEvent): Record<string, unknown> =>
  type === 'location.reported'
    ? {
        dateTime: iso(Number(data.time)),
        count: data.count,
        location: location && presentLocation(location),
      }
    : data

/** The one envelope: in lists, webhooks and streams alike. */
export const presentEvent = (event: LoggedEvent) => {
  const { id, type, time, sequence, accountId, deviceId } = event
  return {
    id,
    type,
    time: iso(time),
    sequence,
    accountId,
    data: { ...(deviceId !== null && { deviceId }), ...dataOf(event) },
  }
}
