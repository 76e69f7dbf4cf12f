import { Hono } from 'hono'
import { FIRST_PAGE_MS, workOfLocations } from '../domain/account/requestCost.ts'
import { continueCostlyWork, runCostlyWork } from '../http/admission/costlyWork.ts'
import { Slices } from '../http/admission/slices.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { readFurtherPages, SPAN_PAGE_ROWS } from '../http/paging/spanPages.ts'
import { reply } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { presentDay, presentStop, presentTrip } from './present.ts'
import { readFirstFixes, readFixes } from './store.ts'
import { summarizeDays } from './tripSummary.ts'
import { findStops, findTrips, findWay, type Trip, type TripFix } from './trips.ts'

interface Span {
  from: number
  to: number
}

interface Track {
  timeZone: string
  fixes: TripFix[]
  slices: Slices
}

const readSpan = async (c: Context, span: Span): Promise<Track> => {
  const { accountId, groupId } = c.get('principal')
  const deviceId = c.req.param('deviceId') ?? ''
  const query = { accountId, groupId, deviceId, ...span, limit: SPAN_PAGE_ROWS }
  const found = await readFirstFixes(c.get('db'), query)
  if (!found) throw new Problem('device-not-found')
  const { timeZone, fixes } = found
  await readFurtherPages(fixes, async (from) => {
    await continueCostlyWork(c, workOfLocations(SPAN_PAGE_ROWS))
    return readFixes(c.get('db'), { ...query, from })
  })
  const slices = new Slices(accountId)
  return { timeZone, fixes: await findWay(fixes, slices), slices }
}

/** Works on the track of a span, one span of an account at a time. */
const withTrack = <T>(c: Context, span: Span, work: (track: Track) => Promise<T>): Promise<T> =>
  runCostlyWork(c, FIRST_PAGE_MS, async () => work(await readSpan(c, span)))

const tripsOf = async ({ fixes, slices }: Track): Promise<Trip[]> =>
  findTrips(fixes, await findStops(fixes, slices), slices)

export const trips = new Hono<AppEnv>()
  .get('/:deviceId/trips', operation(contract.listTrips), async (c) => {
    const found = await withTrack(c, c.req.valid('query'), async (track) =>
      (await tripsOf(track)).map((trip) => presentTrip(track.fixes, trip)),
    )
    return reply(c, contract.listTrips, { success: true, trips: found })
  })
  .get('/:deviceId/stops', operation(contract.listStops), async (c) => {
    const stops = await withTrack(c, c.req.valid('query'), async ({ fixes, slices }) =>
      (await findStops(fixes, slices)).map((stop) => presentStop(fixes, stop)),
    )
    return reply(c, contract.listStops, { success: true, stops })
  })
  .get('/:deviceId/summary', operation(contract.readSummary), async (c) => {
    const days = await withTrack(c, c.req.valid('query'), async (track) => {
      const { fixes, timeZone, slices } = track
      return summarizeDays(fixes, await tripsOf(track), timeZone, slices)
    })
    return reply(c, contract.readSummary, { success: true, days: days.map(presentDay) })
  })
