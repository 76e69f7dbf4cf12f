import type * as z from 'zod'
import { iso } from '../domain/time/iso.ts'
import { presentLocation } from '../locations/present.ts'
import type { event as eventSchema } from './catalogue.ts'
import type { LoggedEvent } from './store.ts'

export type EventBody = z.output<typeof eventSchema>

const dataOf = ({ type, data, location }: LoggedEvent): Record<string, unknown> =>
  type === 'location.reported'
    ? {
        dateTime: iso(Number(data.time)),
        count: data.count,
        location: location && presentLocation(location),
      }
    : data

/**
 * An event as lists, webhooks and streams show it. Its data are stored as JSON, so the compiler
 * cannot check them: tests compare every type of event with the catalogue.
 */
export const presentEvent = (event: LoggedEvent): EventBody => {
  const { id, type, time, sequence, accountId, deviceId } = event
  const data = { ...(deviceId !== null && { deviceId }), ...dataOf(event) }
  return { id, type, time: iso(time), sequence, accountId, data } as EventBody
}
