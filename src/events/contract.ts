import * as z from 'zod'
import { EVENT_PATTERNS } from '../domain/event.ts'
import { define } from '../http/contract.ts'
import { nextCursor, pageQuery } from '../http/page.ts'
import { success } from '../http/wire.ts'
import { event } from './catalogue.ts'

export const MAX_FILTERED = 100

const pattern = z.string('must be an event type').refine((text) => EVENT_PATTERNS.includes(text), {
  error: 'must be an event type, all of a kind such as device.*, or *',
})
export const patterns = z
  .array(pattern, 'must be a list of event types')
  .max(EVENT_PATTERNS.length, 'must not repeat itself')

const commas = (text: string): string[] => text.split(',').filter((part) => part !== '')
const ids = z
  .string()
  .max(8192)
  .transform(commas)
  .pipe(
    z
      .array(z.string().max(64, 'must be ids, with commas between'))
      .max(MAX_FILTERED, `must name at most ${MAX_FILTERED}`),
  )
  .default([])

/** What a reader of the log or of the stream may ask for. */
export const filterQuery = {
  types: z.string().max(1024).transform(commas).pipe(patterns).default([]).meta({
    description: 'Event types with commas between; `device.*` is all of a kind.',
    example: 'device.*,alert.raised',
  }),
  devices: ids.meta({ description: 'Only events of these devices, or of devices in `groups`.' }),
  groups: ids.meta({ description: 'Only events of devices in these groups, or of `devices`.' }),
}

export const after = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(Number.MAX_SAFE_INTEGER)

export const listEvents = define({
  id: 'listEvents',
  tag: 'Events',
  summary: 'List what has happened',
  description:
    'In the order of `sequence`, without gaps where nothing is filtered out. Events are kept for 30 days. A consumer that was away goes on after the last `sequence` that it has seen.',
  scope: 'read',
  query: z.strictObject({
    after: after
      .default(0)
      .meta({ description: 'Only events after the one with this `sequence`.', example: 41 }),
    ...filterQuery,
    ...pageQuery,
  }),
  reply: z.object({
    success,
    events: z.array(event),
    lastSequence: z
      .int()
      .meta({ description: 'The `sequence` of the account’s last event.', example: 42 }),
    nextCursor,
  }),
})
