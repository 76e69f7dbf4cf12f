import { settleWatch } from '../domain/watch/watch.ts'
import type { Context } from '../http/context.ts'
import type { Operation } from '../http/contract/contract.ts'
import { operation } from '../http/contract/operation.ts'
import { requireOk } from '../http/contract/problem.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import { resourceRoutes } from '../http/resource/routes.ts'
import { hasTemporaryAccess, refuseTemporaryAccess } from '../keys/boundKeys.ts'
import { requestContext } from '../serviceContext.ts'
import * as contract from './contract.ts'
import { deleteWatch, updateWatch } from './edit.ts'
import { presentWatch, watchUrl } from './present.ts'
import { createWatch, PAST_DUE, takeStep, type WatchStep } from './progress.ts'
import { findVisibleWatch, listWatches } from './store.ts'

const findRequested = (c: Context) =>
  requireInPath(c, 'watchId', (id) => findVisibleWatch(c.get('db'), c.get('principal'), id))

const replyAfter = async (
  c: Context,
  replied: Operation & Pick<typeof contract.checkInWatch, 'reply'>,
  step: WatchStep,
) => {
  const now = Date.now()
  const found = await findRequested(c)
  if (step.action === 'extend' && step.due <= now) requireOk(PAST_DUE)
  const { watch } = requireOk(await takeStep(requestContext(c), found, step, now))
  return replyWithEtag(c, replied, { success: true, watch: presentWatch(watch, now) }, watch)
}

export const watches = resourceRoutes(contract.watches, {
  prefix: 'wat',
  find: (c, id) => findVisibleWatch(c.get('db'), c.get('principal'), id),
  list: async (c, [after = ''], { limit, deviceId, state }) => {
    const listing = { after: String(after), limit, deviceId }
    const { rows, next } = await listWatches(c.get('db'), c.get('principal'), listing)
    const now = Date.now()
    const isListed = state === undefined ? () => true : (given: string) => given === state
    return { rows: rows.filter((row) => isListed(settleWatch(row, now).progress.state)), next }
  },
  present: (watch) => presentWatch(watch, Date.now()),
  create: async (_, creation, c) => {
    const context = requestContext(c)
    const created = await createWatch(context, creation)
    if (!created.ok) return created
    const isShown = !hasTemporaryAccess(c.get('principal'))
    const url = isShown ? watchUrl(context.origin, created.row) : ''
    return { ...created, shownOnce: { url } }
  },
  update: (db, edit, c) => updateWatch(db, edit, c.get('principal')),
  remove: (db, deletion, c) => deleteWatch(db, deletion, c.get('principal')),
})
  .post('/:watchId/checkIn', operation(contract.checkInWatch), (c) =>
    replyAfter(c, contract.checkInWatch, { action: 'checkIn', given: 'checkIn', at: Date.now() }),
  )
  .post('/:watchId/extend', operation(contract.extendWatch), (c) =>
    replyAfter(c, contract.extendWatch, { action: 'extend', ...c.req.valid('json') }),
  )
  .post('/:watchId/complete', operation(contract.completeWatch), (c) =>
    replyAfter(c, contract.completeWatch, { action: 'complete' }),
  )
  .post('/:watchId/cancel', operation(contract.cancelWatch), (c) =>
    replyAfter(c, contract.cancelWatch, { action: 'cancel' }),
  )
  .post('/:watchId/link', operation(contract.showWatchLink), async (c) => {
    refuseTemporaryAccess(c.get('principal'), 'A link to check in')
    const url = watchUrl(requestContext(c).origin, await findRequested(c))
    return reply(c, contract.showWatchLink, { success: true, url })
  })
