import { Hono } from 'hono'
import type { DeviceRef } from '../db/visibility.ts'
import { BoundedCache } from '../domain/boundedCache.ts'
import { iso } from '../domain/iso.ts'
import type { Location } from '../domain/location.ts'
import { pokeFeed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/operation.ts'
import { MAX_ROWS } from '../http/page.ts'
import { invalid, Problem, requireOk } from '../http/problem.ts'
import { type Range, type RangeQuery, rangePage, wholeRange } from '../http/rangePage.ts'
import { reply, replyAlternate, replyWithEtag } from '../http/reply.ts'
import { storeWithinBudget } from './budget.ts'
import * as contract from './contract.ts'
import { exportTrack } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import { type AssumedState, INITIAL_STATE, storeReport } from './report.ts'
import { findLastLocation, readFirstPage, type Span } from './store.ts'

/** Accounts' states as this isolate last saw them. Each report checks what it assumes. */
const assumedStates = new BoundedCache<AssumedState>(10_000)

const deviceOf = (c: Context): DeviceRef => {
  const { accountId, groupId } = c.get('principal')
  return { accountId, groupId, deviceId: c.req.param('deviceId') ?? '' }
}

const readRange = async (c: Context, { from, to, limit, after }: Range) => {
  const start = after ? Number(after[0]) + 1 : from
  const page = await readFirstPage(c.get('db'), { ...deviceOf(c), from: start, to, limit })
  const last = page?.locations.at(-1)
  return page && { rows: page.locations, next: page.hasMore && last ? [last.dateTime] : null }
}

const queryTrack = async (c: Context, query: RangeQuery, cursorPointer: string) => {
  const page = await rangePage(c, query, { cursorPointer, read: (range) => readRange(c, range) })
  const { rows, nextCursor } = page
  return { success: true as const, locations: rows.map(presentLocation), nextCursor }
}

/** From the earliest to the latest location of a report, in whatever order they were sent. */
const spanOf = (reported: Location[]): Span => {
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
      now: Date.now(),
    }),
  )
  if ('actual' in outcome) assumedStates.set(accountId, outcome.actual)
  const { accepted, stored, actual } = requireOk(outcome)
  if (actual.hasSubscribers && accepted > 0)
    c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return {
    success: true as const,
    accepted,
    duplicates: reported.length - accepted,
    ...(stored && { locations: [presentLocation(stored)] }),
  }
}

export const locations = new Hono<AppEnv>()
  .get('/:deviceId/lastLocation', operation(contract.readLastLocation), async (c) => {
    const last = await findLastLocation(c.get('db'), deviceOf(c))
    if (!last) throw new Problem(last === null ? 'no-location' : 'not-found')
    const body = { success: true as const, lastLocation: presentLocation(last) }
    // A location never changes, so its two times identify it.
    const rest = `${last.dateTime.toString(36)}-${last.receivedAt.toString(36)}`
    return replyWithEtag(c, contract.readLastLocation, body, { version: 1, rest })
  })
  .post('/:deviceId/locations', operation(contract.postLocations), async (c) => {
    const body = c.req.valid('json')
    if (body.kind === 'query')
      return replyAlternate(c, contract.postLocations, await queryTrack(c, body, '/cursor'))
    const { from, to } = spanOf(body.locations)
    return reply(c, contract.postLocations, await report(c, body.locations), {
      Location: `${c.req.path}?from=${iso(from)}&to=${iso(to)}`,
    })
  })
  .get('/:deviceId/locations', operation(contract.listLocations), async (c) => {
    const { from, to, limit, cursor, format: named, geometry, simplify } = c.req.valid('query')
    const format = named ?? acceptedFormat(c.req.header('Accept'))
    c.header('Vary', 'Accept')
    if (format === 'json' && simplify === undefined) {
      const query = { from, to, limit: limit ?? MAX_ROWS, cursor }
      return reply(c, contract.listLocations, await queryTrack(c, query, '#/query/cursor'))
    }
    const paging = Object.entries({ limit, cursor }).filter(([, given]) => given !== undefined)
    if (paging.length > 0)
      throw invalid(
        ...paging.map(([name]) => ({
          pointer: `#/query/${name}`,
          detail: 'is only for JSON without simplify: this reply has the whole span',
        })),
      )
    const query = { ...deviceOf(c), ...wholeRange({ from, to }) }
    const { stream, headers } = await exportTrack(c.get('db'), query, {
      format,
      geometry,
      simplify,
    })
    if (c.req.method !== 'HEAD') return c.body(stream, 200, headers)
    await stream.cancel()
    return c.body(null, 200, headers)
  })
