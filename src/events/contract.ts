import * as z from 'zod'
import { EVENT_PATTERNS } from '../domain/event/event.ts'
import { define } from '../http/contract/contract.ts'
import { idList, splitAtCommas, success } from '../http/contract/wire.ts'
import { nextCursor, pageQuery } from '../http/paging/page.ts'
import { event } from './catalogue.ts'

export const MAX_FILTERED = 100

const pattern = z.string('must be an event type').refine((text) => EVENT_PATTERNS.includes(text), {
  error: 'must be an event type, a group of types such as device.*, or *',
})
export const patterns = z
  .array(pattern, 'must be a list of event types')
  .max(EVENT_PATTERNS.length, `must have at most ${EVENT_PATTERNS.length} event types`)

const ids = idList(MAX_FILTERED).default([])

/** The filters of the event list and of the stream. */
export const filterQuery = {
  types: z.string().max(1024).transform(splitAtCommas).pipe(patterns).default([]).meta({
    description:
      'Event types separated by commas; `device.*` means every type that begins with `device.`.',
    example: 'device.*,alert.raised',
  }),
  devices: ids.meta({
    description:
      'Ids separated by commas: only events of these devices, or of devices in `groups`.',
  }),
  groups: ids.meta({
    description:
      'Ids separated by commas: only events of devices in these groups, or of `devices`.',
  }),
}

export const after = z.coerce
  .number('must be a whole number')
  .int('must be a whole number')
  .min(0, 'must be at least 0')
  .max(Number.MAX_SAFE_INTEGER)

export const listEvents = define({
  id: 'listEvents',
  tag: 'Events',
  summary: 'List events',
  description:
    'In the order of `sequence`, which has no gaps unless a filter leaves events out. Events are kept for 30 days. A consumer that was offline continues after the last `sequence` it has seen.',
  scope: 'read',
  query: z.strictObject({
    after: after
      .default(0)
      .meta({ description: 'Only events with a greater `sequence`.', example: 41 }),
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
