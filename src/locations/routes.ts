import { Hono } from 'hono'
import { BoundedCache } from '../domain/boundedCache.ts'
import { iso } from '../domain/iso.ts'
import type { Location } from '../domain/location.ts'
import { pokeFeed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { replyTagged } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { MAX_ROWS, makeCursor, readCursor } from '../http/page.ts'
import { invalid, Problem } from '../http/problem.ts'
import * as contract from './contract.ts'
import { exportTrack } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import {
  type AssumedState,
  beginTrack,
  findLastLocation,
  INITIAL_STATE,
  type Span,
  storeReport,
  type TrackOwner,
} from './store.ts'

/** How accounts stood when this isolate last saw them: the report itself checks whether it still holds. */
const assumedStates = new BoundedCache<AssumedState>(10_000)

const ownerOf = (c: Context): TrackOwner => {
  const { accountId, groupId } = c.get('principal')
  return { accountId, groupId, deviceId: c.req.param('deviceId') ?? '' }
}

interface TrackQuery {
  from?: number | undefined
  to?: number | undefined
  limit: number
  cursor?: string | undefined
}

const EARLIEST = 0
const LATEST = Date.UTC(9999, 11, 31)

/** A page of a track, the same by POST and by GET: a cursor of one is good for the other. */
const answerQuery = async (
  c: Context,
  { from, to, limit, cursor }: TrackQuery,
  cursorPointer: string,
) => {
  const asked = new URLSearchParams()
  if (from !== undefined) asked.set('from', iso(from))
  if (to !== undefined) asked.set('to', iso(to))
  const list = `${c.req.path}?${asked}`
  const [after] = (await readCursor(c, cursor, list, cursorPointer)) ?? []
  const span = {
    from: after === undefined ? (from ?? EARLIEST) : Number(after) + 1,
    to: to ?? LATEST,
  }
  const page = await beginTrack(c.get('db'), ownerOf(c), span, limit)
  if (!page) throw new Problem('not-found')
  const last = page.locations.at(-1)
  const nextCursor = page.more && last ? await makeCursor(c, [last.dateTime], list) : null
  if (nextCursor) {
    asked.set('limit', String(limit))
    asked.set('cursor', nextCursor)
    c.header('Link', `<${c.req.path}?${asked}>; rel="next"`)
  }
  return c.json({
    success: true as const,
    locations: page.locations.map(presentLocation),
    nextCursor,
  })
}

/** From the first to the last of a report, whatever order they came in. */
const spanOf = (reported: Location[]): Span => {
  let from = Number.POSITIVE_INFINITY
  let to = Number.NEGATIVE_INFINITY
  for (const { dateTime } of reported) {
    if (dateTime < from) from = dateTime
    if (dateTime > to) to = dateTime
  }
  return { from, to }
}

export const locations = new Hono<AppEnv>()
  .get('/:deviceId/lastLocation', operation(contract.readLastLocation), async (c) => {
    const last = await findLastLocation(c.get('db'), ownerOf(c))
    if (!last) throw new Problem(last === null ? 'no-location' : 'not-found')
    const body = JSON.stringify({ success: true, lastLocation: presentLocation(last) })
    // A location never changes, so its two times tell which one it is.
    return replyTagged(c, body, `"1.${last.dateTime.toString(36)}-${last.receivedAt.toString(36)}"`)
  })
  .post('/:deviceId/locations', operation(contract.postLocations), async (c) => {
    const body = c.req.valid('json')
    if (body.kind === 'query') return answerQuery(c, body, '/cursor')
    const { accountId } = c.get('principal')
    const span = spanOf(body.locations)
    const eventId = await c.get('newId')('evt')
    const outcome = await storeReport(
      c.get('db'),
      ownerOf(c),
      body.locations,
      eventId,
      assumedStates.get(accountId) ?? INITIAL_STATE,
      Date.now(),
    )
    if (outcome.ok || outcome.refusal === 'device-expired')
      assumedStates.set(accountId, outcome.assumed)
    if (!outcome.ok) throw new Problem(outcome.refusal)
    const { accepted, stored, assumed } = outcome
    if (assumed.hasSubscribers && accepted > 0)
      c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
    const reply = { success: true as const, accepted, duplicates: body.locations.length - accepted }
    return c.json(stored ? { ...reply, locations: [presentLocation(stored)] } : reply, 201, {
      Location: `${c.req.path}?from=${iso(span.from)}&to=${iso(span.to)}`,
    })
  })
  .get('/:deviceId/locations', operation(contract.listLocations), async (c) => {
    const { from, to, limit, cursor, format, geometry, simplify } = c.req.valid('query')
    const wanted = format ?? acceptedFormat(c.req.header('Accept'))
    c.header('Vary', 'Accept')
    if (wanted === 'json' && simplify === undefined)
      return answerQuery(c, { from, to, limit: limit ?? MAX_ROWS, cursor }, '#/query/cursor')
    const paging = Object.entries({ limit, cursor }).filter(([, given]) => given !== undefined)
    if (paging.length > 0)
      throw invalid(
        ...paging.map(([name]) => ({
          pointer: `#/query/${name}`,
          detail: 'is for pages of JSON: this answer is the whole span',
        })),
      )
    const span = { from: from ?? EARLIEST, to: to ?? LATEST }
    const { stream, headers } = await exportTrack(c.get('db'), ownerOf(c), span, {
      format: wanted,
      geometry,
      simplify,
    })
    if (c.req.method !== 'HEAD') return c.body(stream, 200, headers)
    await stream.cancel()
    return c.body(null, 200, headers)
  })
