import { call } from '../../api/client.ts'
import type { Page } from '../../api/resource.ts'
import type { Event } from '../../api/types.ts'

/*
 * The API lists events from the oldest on; a reader wants the newest. So the page goes back through
 * the numbers, a window at a time.
 */

const WINDOW = 500
const MAX_WINDOWS = 8
const PAGE_SIZE = 100

interface Filter {
  types: string
  devices: string
}

/** Every event with a number in `(lower, upper]`, the newest first. */
const readWindow = async (
  filter: Filter,
  lower: number,
  upper: number,
  signal: AbortSignal,
): Promise<Event[]> => {
  const found: Event[] = []
  let cursor: string | null = null
  do {
    const query: Record<string, unknown> = { ...filter, after: lower, limit: WINDOW, cursor }
    const page = await call('GET /api/events', { query, signal })
    found.push(...page.events.filter(({ sequence }) => sequence <= upper))
    const isPast = (page.events.at(-1)?.sequence ?? 0) >= upper
    cursor = isPast ? null : page.nextCursor
  } while (cursor !== null)
  return found.reverse()
}

/** The numbers of the first and the last event that are kept. */
const readSpan = async (signal: AbortSignal): Promise<{ first: number; last: number }> => {
  const { events, lastSequence } = await call('GET /api/events', { query: { limit: 1 }, signal })
  return { first: events[0]?.sequence ?? lastSequence + 1, last: lastSequence }
}

/** A page ends where the next one begins: `first,upper`. */
export const readEvents = async (
  filter: Filter,
  cursor: string | null,
  signal: AbortSignal,
): Promise<Page<Event>> => {
  let first: number
  let upper: number
  if (cursor === null) {
    const span = await readSpan(signal)
    first = span.first
    upper = span.last
  } else [first = 0, upper = 0] = cursor.split(',').map(Number)
  const items: Event[] = []
  for (let count = 0; count < MAX_WINDOWS && upper >= first; count++) {
    const lower = Math.max(0, upper - WINDOW)
    items.push(...(await readWindow(filter, lower, upper, signal)))
    upper = lower
    if (items.length >= PAGE_SIZE) break
  }
  return { items, nextCursor: upper >= first && upper > 0 ? `${first},${upper}` : null }
}
