import { Hono } from 'hono'
import type { DeviceRef } from '../db/queries/visibility.ts'
import { iso } from '../domain/time/iso.ts'
import { MAX_SPAN_LOCATIONS, type StoredLocation } from '../domain/track/location.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { MAX_ROWS } from '../http/paging/page.ts'
import {
  type Range,
  type RangeQuery,
  rangePage,
  type Span,
  wholeRange,
} from '../http/paging/rangePage.ts'
import { pageLimit, type QueryBody } from '../http/paging/rangeQuery.ts'
import { readWholeRange } from '../http/paging/rangeStream.ts'
import { writeJson } from '../http/paging/rowWriter.ts'
import { setHeader } from '../http/reply/newReply.ts'
import { reply, replyAlternate, replyStream, replyWithEtag } from '../http/reply/reply.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { exportTrack, PAGE_ROWS } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import { reportOfDevice, reportOfMany } from './report.ts'
import { exceedsLocations, findLastLocation, type Order, readFirstPage } from './store.ts'

const deviceOf = (c: Context): DeviceRef => {
  const { accountId, groupId } = c.get('principal')
  return { accountId, groupId, deviceId: c.req.param('deviceId') ?? '' }
}

/** Reads pages of the device's track. */
const trackReader = (c: Context, order: Order = 'asc') => {
  const [db, device] = [c.get('db'), deviceOf(c)]
  return async ({ from, to, limit, after }: Range) => {
    const query = { ...device, from, to, limit, order }
    if (after && order === 'asc') query.from = Number(after[0]) + 1
    if (after && order === 'desc') query.to = Number(after[0]) - 1
    const page = await readFirstPage(db, query)
    const last = page?.locations.at(-1)
    return page && { rows: page.locations, next: page.hasMore && last ? [last.dateTime] : null }
  }
}

interface TrackPageQuery extends RangeQuery {
  order?: Order
  cursorPointer: string
}

const presentTrack = (rows: StoredLocation[], nextCursor: string | null) => ({
  success: true as const,
  locations: rows.map(presentLocation),
  nextCursor,
})

/** One page of a track. */
const queryPage = async (c: Context, { order, cursorPointer, ...query }: TrackPageQuery) => {
  const { rows, nextCursor } = await rangePage(c, query, {
    filters: { order: order === 'desc' ? order : undefined },
    cursorPointer,
    read: trackReader(c, order),
  })
  return presentTrack(rows, nextCursor)
}

const EXCESS = `The span has more than ${MAX_SPAN_LOCATIONS.toLocaleString('en')} locations.`

const replyWholeTrack = async (c: Context, span: Span) => {
  const whole = await readWholeRange(c, span, {
    pageRows: PAGE_ROWS,
    read: trackReader(c),
    findExcess: async ({ from, to }) => {
      const query = { ...deviceOf(c), from, to, limit: MAX_SPAN_LOCATIONS }
      return (await exceedsLocations(c.get('db'), query)) ? EXCESS : null
    },
    writer: writeJson('locations', presentLocation),
  })
  if ('stream' in whole) return replyStream(c, whole.stream)
  return replyAlternate(c, contract.postLocations, presentTrack(whole.rows, null))
}

/** Replies with one page, or with the whole span when neither `limit` nor `cursor` was sent. */
const replyQuery = async (c: Context, query: QueryBody) => {
  const limit = pageLimit(query)
  if (limit === null) return replyWholeTrack(c, query)
  const page = await queryPage(c, { ...query, limit, cursorPointer: '/cursor' })
  return replyAlternate(c, contract.postLocations, page)
}

/** Locations of any devices of the account. */
export const allLocations = new Hono<AppEnv>().post(
  '/',
  operation(contract.reportLocations),
  async (c) => {
    const { locations: sent } = c.req.valid('json')
    const outcome = await reportOfMany(requestContext(c), sent)
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
    const times = body.locations.map(({ dateTime }) => dateTime)
    const span = `from=${iso(Math.min(...times))}&to=${iso(Math.max(...times))}`
    const { deviceId } = c.req.param()
    const outcome = await reportOfDevice(requestContext(c), deviceId, body.locations)
    const replyBody = { success: true as const, ...outcome }
    return reply(c, contract.postLocations, replyBody, { Location: `${c.req.path}?${span}` })
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
    const options = { format, ...shape, given: { from, to } }
    const { stream, headers } = await exportTrack(c, query, options)
    return replyStream(c, stream, headers)
  })
