import { Hono } from 'hono'
import { acquireLongReply } from '../http/admission/longReply.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { readFurtherPages, SPAN_PAGE_ROWS } from '../http/paging/spanPages.ts'
import { reply } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { presentDay, presentStop, presentTrip } from './present.ts'
import { readFirstFixes, readFixes } from './store.ts'
import { summarizeDays } from './tripSummary.ts'
import { findStops, findTrips, isPrecise } from './trips.ts'

const readSpan = async (c: Context, span: { from: number; to: number }) => {
  const { accountId, groupId } = c.get('principal')
  const deviceId = c.req.param('deviceId') ?? ''
  const query = { accountId, groupId, deviceId, ...span, limit: SPAN_PAGE_ROWS }
  const found = await readFirstFixes(c.get('db'), query)
  if (!found) throw new Problem('device-not-found')
  const { timeZone, fixes } = found
  const slot = fixes.length === SPAN_PAGE_ROWS ? acquireLongReply(accountId) : null
  try {
    await readFurtherPages(fixes, (from) => readFixes(c.get('db'), { ...query, from }))
  } finally {
    slot?.release()
  }
  return { timeZone, fixes: fixes.filter(isPrecise) }
}

export const trips = new Hono<AppEnv>()
  .get('/:deviceId/trips', operation(contract.listTrips), async (c) => {
    const { fixes } = await readSpan(c, c.req.valid('query'))
    const found = findTrips(fixes, findStops(fixes))
    return reply(c, contract.listTrips, {
      success: true,
      trips: found.map((trip) => presentTrip(fixes, trip)),
    })
  })
  .get('/:deviceId/stops', operation(contract.listStops), async (c) => {
    const { fixes } = await readSpan(c, c.req.valid('query'))
    return reply(c, contract.listStops, {
      success: true,
      stops: findStops(fixes).map((stop) => presentStop(fixes, stop)),
    })
  })
  .get('/:deviceId/summary', operation(contract.readSummary), async (c) => {
    const { fixes, timeZone } = await readSpan(c, c.req.valid('query'))
    const days = summarizeDays(fixes, findTrips(fixes, findStops(fixes)), timeZone)
    return reply(c, contract.readSummary, { success: true, days: days.map(presentDay) })
  })
