import type { Hono } from 'hono'
import { byId } from '../db/page.ts'
import { NO_EXTRAS, presentDevice } from '../devices/present.ts'
import { findDevice } from '../devices/store.ts'
import { REQUEST_MS } from '../domain/account/requestCost.ts'
import { fold } from '../domain/text/fold.ts'
import { iso } from '../domain/time/iso.ts'
import { continueCostlyWork, runCostlyWork } from '../http/admission/costlyWork.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { Problem } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply } from '../http/reply/reply.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './dataContract.ts'
import { findPayload, listFailures } from './payloads/payloads.ts'
import { replaySpan } from './payloads/replay.ts'
import { presentUnclaimed } from './present.ts'
import { acceptQuarantined } from './quarantine/accept.ts'
import { deleteQuarantined, listQuarantine } from './quarantine/quarantine.ts'
import { type CountedSource, ownSources, type StoredSource } from './store.ts'
import { giveIdentifier, importReports } from './unclaimed/claim.ts'
import { discardUnclaimed, type Holder, listUnclaimed } from './unclaimed/unclaimed.ts'

/* What sources hold, and what can be done with it. */

/** The source in the path. */
export const requireSource = (c: Context): Promise<CountedSource> =>
  requireInPath(c, 'sourceId', (id) =>
    ownSources.find(c.get('db'), c.get('principal').accountId, id),
  )

const holderOf = (c: Context, { id }: StoredSource): Holder => ({
  accountId: c.get('principal').accountId,
  sourceId: id,
})

const identifierOf = (c: Context): string => c.req.param('identifier') ?? ''

/** Adds the routes below a source. They come before those with a parameter of the same length. */
export const addDataRoutes = (app: Hono<AppEnv>) =>
  app
    .get('/:sourceId/unclaimed', operation(contract.listUnclaimed), async (c) => {
      const source = await requireSource(c)
      const holder = holderOf(c, source)
      return replyList(c, contract.listUnclaimed, c.req.valid('query'), {
        read: ([after = ''], limit) =>
          listUnclaimed(c.get('db'), holder, fold(String(after)), limit),
        // Not folded, which may be longer than a cursor.
        positionOf: ({ identifier }) => [identifier],
        toBody: (rows) => ({ unclaimed: rows.map(presentUnclaimed), dropped: source.dropped }),
      })
    })
    .post(
      '/:sourceId/unclaimed/:identifier/claim',
      operation(contract.claimIdentifier),
      async (c) => {
        const holder = holderOf(c, await requireSource(c))
        const identifier = identifierOf(c)
        const context = requestContext(c)
        const granted = await giveIdentifier(context, holder, identifier, c.req.valid('json'))
        const moved = await importReports(context, holder, identifier)
        const now = Date.now()
        const { id } = granted.device
        const stored = await findDevice(c.get('db'), c.get('principal'), id, now).catch(() => null)
        const device = presentDevice(granted.device, granted.account, stored ?? NO_EXTRAS, now)
        return reply(c, contract.claimIdentifier, { success: true, device, ...moved })
      },
    )
    .delete(
      '/:sourceId/unclaimed/:identifier',
      operation(contract.discardIdentifier),
      async (c) => {
        const holder = holderOf(c, await requireSource(c))
        if (!(await discardUnclaimed(c.get('db'), holder, identifierOf(c), Date.now())))
          throw new Problem('identifier-not-found')
        return reply(c, contract.discardIdentifier, { success: true })
      },
    )
    .get('/:sourceId/failures', operation(contract.listFailures), async (c) => {
      const holder = holderOf(c, await requireSource(c))
      return replyList(c, contract.listFailures, c.req.valid('query'), {
        read: ([before = '~'], limit) => listFailures(c.get('db'), holder, String(before), limit),
        positionOf: byId,
        toBody: (rows) => ({
          failures: rows.map(({ receivedAt, reason, ...row }) => ({
            ...row,
            receivedAt: iso(receivedAt),
            reason: reason ?? '',
          })),
        }),
      })
    })
    .get('/:sourceId/failures/:payloadId/raw', operation(contract.readRawPayload), async (c) => {
      const holder = holderOf(c, await requireSource(c))
      const row = await findPayload(c.get('db'), holder, c.req.param('payloadId'))
      if (!row) throw new Problem('payload-not-found')
      const empty = { contentType: '', query: '', headers: {}, body: null }
      const { body: bodyBase64, ...rest } = row.push === null ? empty : JSON.parse(row.push)
      return reply(c, contract.readRawPayload, { success: true, ...rest, bodyBase64 })
    })
    .post('/:sourceId/replay', operation(contract.replayPayloads), async (c) => {
      const source = await requireSource(c)
      const span = {
        ...c.req.valid('json'),
        awaitTurn: (workMs: number) => continueCostlyWork(c, workMs),
      }
      const outcome = await runCostlyWork(c, REQUEST_MS, () =>
        replaySpan(requestContext(c), source, span),
      )
      return reply(c, contract.replayPayloads, { success: true, ...outcome })
    })

const requireDeviceKey = async (c: Context): Promise<number> => {
  const { device } = await requireInPath(c, 'deviceId', (id) =>
    findDevice(c.get('db'), c.get('principal'), id, Date.now()),
  )
  return device.key
}

/** Adds the routes of a device's quarantine. */
export const addQuarantineRoutes = (app: Hono<AppEnv>) =>
  app
    .get('/:deviceId/quarantine', operation(contract.listQuarantine), async (c) => {
      const key = await requireDeviceKey(c)
      return replyList(c, contract.listQuarantine, c.req.valid('query'), {
        read: ([at = Number.MAX_SAFE_INTEGER, id = ''], limit) =>
          listQuarantine(c.get('db'), key, [Number(at), String(id)], limit),
        positionOf: ({ location, id }) => [location.receivedAt, id],
        toBody: (rows) => ({
          quarantine: rows.map(({ id, reason, location: { receivedAt, ...location } }) => ({
            id,
            reason,
            location: { ...location, dateTime: iso(location.dateTime) },
            receivedAt: iso(receivedAt),
          })),
        }),
      })
    })
    .post('/:deviceId/quarantine/release', operation(contract.releaseQuarantine), async (c) => {
      const key = await requireDeviceKey(c)
      const device = { key, id: c.req.param('deviceId') }
      const { ids } = c.req.valid('json')
      const { accepted, conflicts } = await acceptQuarantined(requestContext(c), device, ids)
      const body = { success: true as const, released: accepted.length, conflicts }
      return reply(c, contract.releaseQuarantine, body)
    })
    .post('/:deviceId/quarantine/discard', operation(contract.discardQuarantine), async (c) => {
      const device = { key: await requireDeviceKey(c), id: c.req.param('deviceId') }
      const { ids } = c.req.valid('json')
      const action = 'device.quarantineDiscarded'
      const discarded = await deleteQuarantined(requestContext(c), { device, ids, action })
      return reply(c, contract.discardQuarantine, { success: true, discarded })
    })
