import * as z from 'zod'
import type { daySummary, stop, trip } from '../trips/contract.ts'
import { deviceArgument, findDevice, labelOf } from './devices.ts'
import { defineTool } from './tool.ts'

const DEFAULT_DAYS = 7

const span = {
  device: deviceArgument,
  from: z
    .string()
    .max(40)
    .optional()
    .describe(`The beginning (ISO 8601), by default ${DEFAULT_DAYS} days before the end.`),
  to: z
    .string()
    .max(40)
    .optional()
    .describe('The end (ISO 8601), at most 31 days later; by default now.'),
}

/** Texts that are no times go to the API as they are: it says what is wrong with them. */
const spanOf = ({ from, to }: { from?: string | undefined; to?: string | undefined }) => {
  const end = to ?? new Date().toISOString()
  const endMs = Date.parse(end)
  const start = Number.isNaN(endMs)
    ? end
    : new Date(endMs - DEFAULT_DAYS * 86_400_000).toISOString()
  return { from: from ?? start, to: end }
}

const sum = (numbers: number[]): number => Math.round(numbers.reduce((a, b) => a + b, 0))

/** Where a device went. */
export const trackTools = [
  defineTool({
    name: 'track_summary',
    title: 'Track summary',
    description:
      'Distance, moving time, trips and top speed of a device for each day (time zone of the account), with the sums.',
    scope: 'read',
    input: z.strictObject(span),
    run: async (api, input) => {
      const device = await findDevice(api, input.device)
      const query = spanOf(input)
      const path = `/api/devices/${device.id}/summary`
      const { days } = await api<{ days: z.output<typeof daySummary>[] }>('GET', path, { query })
      const distance = sum(days.map((each) => each.distance))
      const movingSeconds = sum(days.map((each) => each.movingSeconds))
      const trips = sum(days.map((each) => each.trips))
      return {
        summary: `${labelOf(device)} moved ${(distance / 1000).toFixed(1)} km on ${trips} trips from ${query.from} to ${query.to}.`,
        data: { ...query, distance, movingSeconds, trips },
        rows: days,
      }
    },
  }),
  defineTool({
    name: 'list_trips',
    title: 'Trips and stops',
    description:
      'The trips of a device, or its stops: start, end, distance, duration and speeds; the newest if there are more than asked for.',
    scope: 'read',
    input: z.strictObject({
      ...span,
      kind: z.enum(['trips', 'stops']).default('trips'),
      limit: z.int().min(1).max(50).default(20).describe('The greatest number of rows.'),
    }),
    run: async (api, { kind, limit, ...input }) => {
      const device = await findDevice(api, input.device)
      const query = spanOf(input)
      const reply = await api<{
        trips?: z.output<typeof trip>[]
        stops?: z.output<typeof stop>[]
      }>('GET', `/api/devices/${device.id}/${kind}`, { query })
      const all: object[] = reply.trips ?? reply.stops ?? []
      const rows = all.slice(-limit)
      const shown = rows.length < all.length ? ` The last ${rows.length} are shown.` : ''
      return {
        summary: `${labelOf(device)} has ${all.length} ${kind} from ${query.from} to ${query.to}.${shown}`,
        rows,
        keepsEnd: true,
      }
    },
  }),
]
