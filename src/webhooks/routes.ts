import { Hono } from 'hono'
import { retryTransient } from '../db/transient.ts'
import type { Webhook, WebhookRecord } from '../domain/event/webhook.ts'
import { checkPublicUrl } from '../domain/text/publicUrl.ts'
import { iso } from '../domain/time/iso.ts'
import { allowsLoopback } from '../env.ts'
import { type Feed, feedOf, pokeFeed } from '../feed/stub.ts'
import { waitForReceiver } from '../http/admission/loadShedding.ts'
import { applyPatch } from '../http/body/patch.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, requireOk } from '../http/contract/problem.ts'
import { byId, replyList } from '../http/paging/list.ts'
import { editResource } from '../http/reply/editResource.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply, replyWithEtag } from '../http/reply/reply.ts'
import * as contract from './contract.ts'
import { createWebhook, deleteWebhook, updateWebhook } from './edit.ts'
import { presentDelivery, presentWebhook } from './present.ts'
import { findWebhook, listWebhooks } from './store.ts'

const ownFeed = (c: Context): Feed => feedOf(c.env, c.get('principal').accountId)

const presentOne = (webhook: Webhook) => ({
  success: true as const,
  webhook: presentWebhook(webhook),
})

/** The webhook in the path. */
const requireWebhook = (c: Context): Promise<Webhook> =>
  requireInPath(c, 'webhookId', (id) => findWebhook(c.get('db'), c.get('principal').accountId, id))

/** The schema allows loopback; reject it here unless ALLOW_LOOPBACK_WEBHOOKS is set. */
const requirePublicUrl = <R extends WebhookRecord>(c: Context, record: R): R => {
  const check = checkPublicUrl(record.url, allowsLoopback(c.env))
  if (!check.ok) throw invalid({ pointer: '/url', detail: check.detail })
  return record
}

const editWebhook = async (
  c: Context,
  change: (before: Webhook) => WebhookRecord,
): Promise<Webhook> => {
  const principal = c.get('principal')
  const { webhook } = await editResource(c, {
    find: () => requireWebhook(c),
    change: (before) => requirePublicUrl(c, change(before)),
    write: ({ id, version }, record) => {
      const { accountId } = principal
      return updateWebhook(c.get('db'), { accountId, id, record, version, now: Date.now() })
    },
  })
  c.executionCtx.waitUntil(pokeFeed(c.env, principal))
  return webhook
}

export const webhooks = new Hono<AppEnv>()
  .get('/', operation(contract.listWebhooks), (c) =>
    replyList(c, contract.listWebhooks, c.req.valid('query'), {
      read: ([after = ''], limit) =>
        listWebhooks(c.get('db'), c.get('principal').accountId, String(after), limit),
      positionOf: byId,
      toBody: (rows) => ({ webhooks: rows.map(presentWebhook) }),
    }),
  )
  .post('/', operation(contract.createWebhook), async (c) => {
    const principal = c.get('principal')
    const { accountId } = principal
    const record = requirePublicUrl(c, c.req.valid('json'))
    const id = await c.get('newId')('whk')
    const secret = await ownFeed(c).ensureSecret(principal, id)
    const { webhook } = requireOk(
      await createWebhook(c.get('db'), { accountId, id, record, now: Date.now() }),
    )
    c.executionCtx.waitUntil(pokeFeed(c.env, principal))
    const body = { ...presentOne(webhook), secret }
    return replyWithEtag(c, contract.createWebhook, body, {
      version: webhook.version,
      location: `/api/webhooks/${id}`,
    })
  })
  .get('/:webhookId', operation(contract.readWebhook), async (c) => {
    const webhook = await requireWebhook(c)
    return replyWithEtag(c, contract.readWebhook, presentOne(webhook), webhook)
  })
  .put('/:webhookId', operation(contract.replaceWebhook), async (c) => {
    const webhook = await editWebhook(c, () => c.req.valid('json'))
    return replyWithEtag(c, contract.replaceWebhook, presentOne(webhook), webhook)
  })
  .patch('/:webhookId', operation(contract.patchWebhook), async (c) => {
    const patch = c.req.valid('json')
    const webhook = await editWebhook(c, (before) =>
      applyPatch(patch, presentWebhook(before), contract.replaceWebhook),
    )
    return replyWithEtag(c, contract.patchWebhook, presentOne(webhook), webhook)
  })
  .delete('/:webhookId', operation(contract.deleteWebhook), async (c) => {
    const id = c.req.param('webhookId')
    const { accountId } = c.get('principal')
    requireOk(await deleteWebhook(c.get('db'), accountId, id, c.get('ifMatch')))
    // If this fails, the feed notices the deleted webhook at its next poll.
    c.executionCtx.waitUntil(
      ownFeed(c)
        .deleteWebhook(id)
        .catch(() => {}),
    )
    return reply(c, contract.deleteWebhook, { success: true })
  })
  .post('/:webhookId/test', operation(contract.testWebhook), async (c) => {
    const webhook = await requireWebhook(c)
    const id = await c.get('newId')('dlv')
    const { delivery } = requireOk(
      await waitForReceiver(c, () => ownFeed(c).sendTest(c.get('principal'), webhook, id)),
    )
    return reply(c, contract.testWebhook, { success: true, delivery: presentDelivery(delivery) })
  })
  .post('/:webhookId/rotate', operation(contract.rotateSecret), async (c) => {
    const webhook = await requireWebhook(c)
    const rotationId = await c.get('newId')('rot')
    const { secret, until } = await ownFeed(c).rotateSecret(webhook.id, rotationId)
    const body = { ...presentOne(webhook), secret, previousUntil: iso(until) }
    return reply(c, contract.rotateSecret, body)
  })
  .get('/:webhookId/deliveries', operation(contract.listDeliveries), async (c) => {
    const webhook = await requireWebhook(c)
    return replyList(c, contract.listDeliveries, c.req.valid('query'), {
      read: ([before = Number.MAX_SAFE_INTEGER], limit) =>
        retryTransient(() => ownFeed(c).listDeliveries(webhook.id, Number(before), limit)),
      positionOf: ({ number }) => [number],
      toBody: (rows) => ({ deliveries: rows.map(presentDelivery) }),
    })
  })
  .post(
    '/:webhookId/deliveries/:deliveryId/redeliver',
    operation(contract.redeliver),
    async (c) => {
      const webhook = await requireWebhook(c)
      const id = c.req.param('deliveryId')
      const outcome = await waitForReceiver(c, () =>
        ownFeed(c).redeliver(c.get('principal'), webhook, id),
      )
      const { delivery } = requireOk(outcome)
      return reply(c, contract.redeliver, { success: true, delivery: presentDelivery(delivery) })
    },
  )
