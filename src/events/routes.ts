import { Hono } from 'hono'
import { type EventFilter, passes } from '../domain/event.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { readCursor } from '../http/page.ts'
import { replyPage } from '../http/reply.ts'
import * as contract from './contract.ts'
import { presentEvent } from './present.ts'
import { type LoggedEvent, readLog } from './store.ts'

const SCAN_ROWS = 1000
const MAX_SCANS = 10
/** Bounds the memory of a page, whatever its events carry. */
const MAX_PAGE_CHARACTERS = 2_000_000

interface EventPage {
  found: LoggedEvent[]
  /** The account's last number. */
  head: number
  /** The number to go on after; null on the last page. */
  next: number | null
}

/**
 * Up to `limit` events that pass the filter. However rare they are, a page scans a bounded part of
 * the log and returns how far it came.
 */
const scanLog = async (
  c: Context,
  after: number,
  limit: number,
  filter: EventFilter,
): Promise<EventPage> => {
  const { accountId, groupId } = c.get('principal')
  const found: LoggedEvent[] = []
  let position = after
  let characters = 0
  for (let scan = 1; ; scan++) {
    const { events, head, hasMore } = await readLog(c.get('db'), accountId, position, SCAN_ROWS)
    for (const event of events) {
      if (!passes(filter, groupId, event)) continue
      if (found.length === limit || characters >= MAX_PAGE_CHARACTERS)
        return { found, head, next: position }
      found.push(event)
      characters += event.size
      position = event.sequence
    }
    const last = events.at(-1)
    if (!last || !hasMore) return { found, head, next: null }
    position = last.sequence
    if (scan === MAX_SCANS) return { found, head, next: position }
  }
}

export const events = new Hono<AppEnv>().get('/', operation(contract.listEvents), async (c) => {
  const { after, limit, cursor, ...filter } = c.req.valid('query')
  const [from = after] = (await readCursor(c, cursor)) ?? []
  const { found, head, next } = await scanLog(c, Number(from), limit, filter)
  const body = { events: found.map(presentEvent), lastSequence: head }
  return replyPage(c, contract.listEvents, body, next === null ? null : [next])
})
