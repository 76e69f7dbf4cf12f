import { Hono } from 'hono'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { readCursor } from '../http/paging/page.ts'
import { replyPage } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { listEvents } from './list.ts'
import { presentEvent } from './present.ts'

export const events = new Hono<AppEnv>().get('/', operation(contract.listEvents), async (c) => {
  const { after, limit, cursor, ...filter } = c.req.valid('query')
  const [from = after] = (await readCursor(c, cursor)) ?? []
  const listing = { after: Number(from), filter, limit }
  const page = await listEvents(c.get('db'), c.get('principal'), listing)
  const body = { events: page.events.map(presentEvent), lastSequence: page.head }
  return replyPage(c, contract.listEvents, body, page.next === null ? null : [page.next])
})
