import { Hono } from 'hono'
import { retryTransient } from '../db/transient.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import { iso } from '../domain/iso.ts'
import type { Location } from '../domain/location.ts'
import type { PendingRaise } from '../domain/pendingRaise.ts'
import { pokeFeed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { MAX_ROWS } from '../http/page.ts'
import { invalid, Problem, refusalProblem, requireOk } from '../http/problem.ts'
import { wholeRange } from '../http/rangePage.ts'
import { reply, replyStream, replyWithEtag } from '../http/reply.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { logFailure } from '../log.ts'
import { publicOrigin } from '../notify/provider.ts'
import { storeWithinBudget } from './budget.ts'
import * as contract from './contract.ts'
import { exportTrack } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import { deviceOf, queryPage, replyQuery } from './query.ts'
import { type AssumedState, INITIAL_STATE, storeReport } from './report.ts'
import { findLastLocation } from './store.ts'

/** Accounts' states as this isolate last saw them. Each report checks what it assumes. */
const assumedStates = new BoundedCache<AssumedState>(10_000)

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

/**
 * Hands a report's emergencies to the ledger before the reply, and returns the id of the first alert.
 * After a failure the reply is 503, and a repeat of the report or the sweep hands them over again.
 */
const raise = async (c: Context, raises: PendingRaise[]): Promise<string | null> => {
  if (raises.length === 0) return null
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  const decided = await retryTransient(() => ledger.raisePending(raises)).catch((error) => {
    logFailure('raise-failed', error, { requestId: c.get('requestId') })
    throw new Problem('unavailable')
  })
  const { outcomes } = requireOk(decided)
  return outcomes.find((outcome) => outcome.ok)?.alertId ?? null
}

/** Hands over what rules have found. After a failure or a crash the sweep does it. */
const raiseHits = async (c: Context, hits: PendingRaise[]): Promise<void> => {
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  await retryTransient(() => ledger.raisePending(hits)).catch((error) =>
    logFailure('raise-failed', error, { requestId: c.get('requestId') }),
  )
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
      origin: publicOrigin(c.env) ?? new URL(c.req.url).origin,
      now: Date.now(),
    }),
  )
  if ('actual' in outcome) assumedStates.set(accountId, outcome.actual)
  const alertId = 'raises' in outcome ? await raise(c, outcome.raises) : null
  // The location of an expired device is refused, and yet someone is told of its emergency.
  if (!outcome.ok && alertId) throw refusalProblem({ ...outcome, alertId })
  const { counts, stored, actual, hits } = requireOk(outcome)
  if (hits.length > 0) c.executionCtx.waitUntil(raiseHits(c, hits))
  if (actual.hasSubscribers && counts.accepted > 0)
    c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return {
    success: true as const,
    ...counts,
    ...(stored && { locations: [presentLocation(stored)] }),
  }
}

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
    c.header('Vary', 'Accept')
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
