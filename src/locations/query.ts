import type { DeviceRef } from '../db/queries/visibility.ts'
import { MAX_SPAN_LOCATIONS, type StoredLocation } from '../domain/track/location.ts'
import type { Context } from '../http/context.ts'
import { type Range, type RangeQuery, rangePage, type Span } from '../http/paging/rangePage.ts'
import { pageLimit, type QueryBody } from '../http/paging/rangeQuery.ts'
import { readWholeRange } from '../http/paging/rangeStream.ts'
import { writeJson } from '../http/paging/rowWriter.ts'
import { replyAlternate, replyStream } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { PAGE_ROWS } from './export.ts'
import { presentLocation } from './present.ts'
import { exceedsLocations, type Order, readFirstPage } from './store.ts'

export const deviceOf = (c: Context): DeviceRef => {
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
export const queryPage = async (c: Context, { order, cursorPointer, ...query }: TrackPageQuery) => {
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
export const replyQuery = async (c: Context, query: QueryBody) => {
  const limit = pageLimit(query)
  if (limit === null) return replyWholeTrack(c, query)
  const page = await queryPage(c, { ...query, limit, cursorPointer: '/cursor' })
  return replyAlternate(c, contract.postLocations, page)
}
