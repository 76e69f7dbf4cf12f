import { Hono } from 'hono'
import { MAX_SPAN_LOCATIONS } from '../domain/track/location.ts'
import { acquireLongReply } from '../http/admission/longReply.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { reply } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { presentDay, presentStop, presentTrip } from './present.ts'
import { type FixQuery, readFirstFixes, readFixes } from './store.ts'
import { summarizeDays } from './tripSummary.ts'
import { findStops, findTrips, isPrecise, type TripFix } from './trips.ts'

const PAGE_ROWS = 10_000

const EXCESS = `The span has more than ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations. Choose a shorter one with \`from\` and \`to\`.`

/** The rest of a span after its first page; more than one reply may be made of is refused. */
const readRest = async (c: Context, query: FixQuery, fixes: TripFix[]): Promise<void> => {
  const slot = acquireLongReply(c.get('principal').accountId)
  try {
    for (let hasMore = true; hasMore; ) {
      const from = (fixes.at(-1)?.time ?? 0) + 1
      const page = await readFixes(c.get('db'), { ...query, from })
      fixes.push(...page)
      if (fixes.length > MAX_SPAN_LOCATIONS) throw new Problem('span-too-large', { detail: EXCESS })
      hasMore = page.length === query.limit
    }
  } finally {
    slot.release()
  }
}

const readSpan = async (c: Context, span: { from: number; to: number }) => {
  const { accountId, groupId } = c.get('principal')
  const deviceId = c.req.param('deviceId') ?? ''
  const query = { accountId, groupId, deviceId, ...span, limit: PAGE_ROWS }
  const found = await readFirstFixes(c.get('db'), query)
  if (!found) throw new Problem('device-not-found')
  const { timeZone, fixes } = found
  if (fixes.length === PAGE_ROWS) await readRest(c, query, fixes)
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
