import { Hono } from 'hono'
import { passes } from '../domain/event.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import * as contract from './contract.ts'
import { presentEvent } from './present.ts'
import { type LoggedEvent, readLog } from './store.ts'

const SCANNED = 1000
const MAX_SCANS = 10
/** However much its events carry, a page of them fits into memory. */
const MAX_CHARACTERS = 2_000_000

interface Asked {
  types: string[]
  devices: string[]
  groups: string[]
}

/** Up to `limit` events that pass. However rare they are, a page looks at a bounded stretch of the log and says how far it came. */
const collect = async (c: Context, after: number, limit: number, asked: Asked) => {
  const { accountId, groupId } = c.get('principal')
  const found: LoggedEvent[] = []
  let position = after
  let size = 0
  for (let scan = 1; ; scan++) {
    const { events, head, more } = await readLog(c.get('db'), accountId, position, SCANNED)
    for (const event of events) {
      if (!passes(asked, groupId, event)) continue
      if (found.length === limit || size >= MAX_CHARACTERS) return { found, head, next: position }
      found.push(event)
      size += event.size
      position = event.sequence
    }
    const last = events.at(-1)
    if (!last || !more) return { found, head, next: null }
    position = last.sequence
    if (scan === MAX_SCANS) return { found, head, next: position }
  }
}

export const events = new Hono<AppEnv>().get('/', operation(contract.listEvents), async (c) => {
  const { after, limit, cursor, ...asked } = c.req.valid('query')
  const [from = after] = (await readCursor(c, cursor)) ?? []
  const { found, head, next } = await collect(c, Number(from), limit, asked)
  return replyPage(c, 'events', found.map(presentEvent), next === null ? null : [next], {
    lastSequence: head,
  })
})
