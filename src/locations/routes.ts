import { Hono } from 'hono'
import { iso } from '../domain/time/iso.ts'
import type { Location } from '../domain/track/location.ts'
import type { AppEnv } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, Problem } from '../http/contract/problem.ts'
import { MAX_ROWS } from '../http/paging/page.ts'
import { wholeRange } from '../http/paging/rangePage.ts'
import { setHeader } from '../http/reply/newReply.ts'
import { reply, replyStream, replyWithEtag } from '../http/reply/reply.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { exportTrack } from './export.ts'
import { acceptedFormat } from './formats/formats.ts'
import { presentLocation } from './present.ts'
import { deviceOf, queryPage, replyQuery } from './query.ts'
import { reportOfDevice, reportOfMany } from './report.ts'
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
    const { from, to } = spanOf(body.locations)
    const { deviceId } = c.req.param()
    const outcome = await reportOfDevice(requestContext(c), deviceId, body.locations)
    return reply(
      c,
      contract.postLocations,
      { success: true, ...outcome },
      {
        Location: `${c.req.path}?from=${iso(from)}&to=${iso(to)}`,
      },
    )
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
