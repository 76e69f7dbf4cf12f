import { Hono } from 'hono'
import { iso } from '../domain/time/iso.ts'
import type { Location } from '../domain/track/location.ts'
import { pokeFeed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem, refusalProblem, requireOk } from '../http/contract/problem.ts'
import { MAX_ROWS } from '../http/paging/page.ts'
import { wholeRange } from '../http/paging/rangePage.ts'
import { setHeader } from '../http/reply/newReply.ts'
import { reply, replyStream, replyWithEtag } from '../http/reply/reply.ts'
import { storeWithinBudget } from '../ingest/budget/budget.ts'
import { assumedStates, handOverLater, handOverRaises, originOf } from '../ingest/handOver.ts'
import { INITIAL_STATE, storeReport } from '../ingest/report.ts'
import * as contract from './contract.ts'
import { exportTrack } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import { deviceOf, queryPage, replyQuery } from './query.ts'
import { reportMixed } from './reportMixed.ts'
import { findLastLocation } from './store.ts'

/** From the earliest to the latest location of a report, in whatever order they were sent. */
const spanOf = (reported: Location[]) => {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const { dateTime } of reported) {
    if (dateTime < from) from = dateTime
    if (dateTime > to) to = dateTime
  }
  return { from, to }
}

const report = async (c: Context, reported: Location[]) => {
  const { accountId } = c.get('principal')
  const eventId = await c.get('newId')('evt')
  const outcome = await storeWithinBudget(c, reported, () =>
    storeReport(c.get('db'), {
      device: deviceOf(c),
      locations: reported,
      eventId,
      assumed: assumedStates.get(accountId) ?? INITIAL_STATE,
      origin: originOf(c),
      now: Date.now(),
    }),
  )
  if ('actual' in outcome) assumedStates.set(accountId, outcome.actual)
  const alertId = 'raises' in outcome ? await handOverRaises(c, outcome.raises) : null
  // The location of an expired device is refused, and yet someone is told of its emergency.
  if (!outcome.ok && alertId) throw refusalProblem({ ...outcome, alertId })
  const { counts, stored, actual, hits } = requireOk(outcome)
  handOverLater(c, hits)
  if (actual.hasSubscribers && counts.accepted > 0)
    c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return {
    success: true as const,
    ...counts,
    ...(stored && { locations: [presentLocation(stored)] }),
  }
}

/** Locations of any devices of the account. */
export const allLocations = new Hono<AppEnv>().post(
  '/',
  operation(contract.reportLocations),
  async (c) => {
    const { locations: sent } = c.req.valid('json')
    const outcome = await reportMixed(c, sent)
    return reply(c, contract.reportLocations, { success: true, ...outcome })
  },
)

export const locations = new Hono<AppEnv>()
  .get('/:deviceId/lastLocation', operation(contract.readLastLocation), async (c) => {
    const last = await findLastLocation(c.get('db'), deviceOf(c))
    if (!last) throw new Problem(last === null ? 'no-location' : 'device-not-found')
    const body = { success: true as const, lastLocation: presentLocation(last) }
    // A location never changes, so its two times identify it.
    const rest = `${last.dateTime.toString(36)}-${last.receivedAt.toString(36)}`
    return replyWithEtag(c, contract.readLastLocation, body, { version: 1, rest })
  })
  .post('/:deviceId/locations', operation(contract.postLocations), async (c) => {
    const body = c.req.valid('json')
    if (body.kind === 'query') return replyQuery(c, body)
    const { from, to } = spanOf(body.locations)
    return reply(c, contract.postLocations, await report(c, body.locations), {
      Location: `${c.req.path}?from=${iso(from)}&to=${iso(to)}`,
    })
  })
  .get('/:deviceId/locations', operation(contract.listLocations), async (c) => {
    const { from, to, limit, cursor, order, format: named, ...shape } = c.req.valid('query')
    const format = named ?? acceptedFormat(c.req.header('Accept'))
    setHeader(c, 'Vary', 'Accept')
    if (format === 'json' && shape.simplify === undefined) {
      const query = { from, to, limit: limit ?? MAX_ROWS, cursor, order }
      const page = await queryPage(c, { ...query, cursorPointer: '#/query/cursor' })
      return reply(c, contract.listLocations, page)
    }
    const isBackwards = order === 'desc' || undefined
    const paging = Object.entries({ limit, cursor, order: isBackwards }).filter(
      ([, given]) => given !== undefined,
    )
    if (paging.length > 0)
      throw invalid(
        ...paging.map(([name]) => ({
          pointer: `#/query/${name}`,
          detail:
            'is only for JSON without simplify: this reply has the whole span in order of time',
        })),
      )
    const query = { ...deviceOf(c), ...wholeRange({ from, to }) }
    const { stream, headers } = await exportTrack(c.get('db'), query, { format, ...shape })
    return replyStream(c, stream, headers)
  })
