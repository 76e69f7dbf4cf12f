import { retryTransient } from '../db/transient.ts'
import type { WebhookRecord } from '../domain/event/webhook.ts'
import { toHttpUrl } from '../domain/output/mqtt.ts'
import type { OutputSettings } from '../domain/output/output.ts'
import { checkPublicUrl } from '../domain/text/publicUrl.ts'
import { iso } from '../domain/time/iso.ts'
import { allowsLoopback } from '../env.ts'
import { type Feed, feedOf, pokeFeed } from '../feed/stub.ts'
import { waitForReceiver } from '../http/admission/loadShedding.ts'
import type { Context } from '../http/context.ts'
import { operation } from '../http/contract/operation.ts'
import { invalid, requireOk } from '../http/contract/problem.ts'
import { replyList } from '../http/paging/list.ts'
import { requireInPath } from '../http/reply/notFound.ts'
import { reply } from '../http/reply/reply.ts'
import { inAccount, resourceRoutes } from '../http/resource/routes.ts'
import { writerOf } from '../http/writer.ts'
import { refuseTemporaryAccess } from '../keys/boundKeys.ts'
import * as contract from './contract.ts'
import { createWebhook, deleteWebhook, updateWebhook } from './edit.ts'
import { presentDelivery, presentWebhook } from './present.ts'
import { ownWebhooks } from './store.ts'

const ownFeed = (c: Context): Feed => feedOf(c.env, c.get('principal').accountId)

const { find, list } = inAccount(ownWebhooks)

/** The webhook in the path. */
const requireWebhook = (c: Context) => requireInPath(c, 'webhookId', (id) => find(c, id))

/** The schema allows loopback; reject it here unless ALLOW_LOOPBACK_WEBHOOKS is set. */
const requirePublicUrl = (c: Context, { url }: WebhookRecord): void => {
  const check = checkPublicUrl(toHttpUrl(url), allowsLoopback(c.env))
  if (!check.ok) throw invalid({ pointer: '/url', detail: check.detail })
}

type GivenSettings = OutputSettings & { token?: string | null | undefined }

const withoutToken = (record: WebhookRecord) => {
  const { token, ...settings } = record.settings as GivenSettings
  return { token, record: { ...record, settings } }
}

/** Stores the token in the feed. That of another format or host is deleted. */
const keepToken = async (
  c: Context,
  id: string,
  { token, record }: ReturnType<typeof withoutToken>,
  before?: WebhookRecord,
): Promise<void> => {
  const isElsewhere =
    before !== undefined &&
    (before.format !== record.format || new URL(before.url).host !== new URL(record.url).host)
  const isGiven = token !== undefined && token !== null
  if (isGiven || isElsewhere)
    await ownFeed(c).ensureSecret(c.get('principal'), id, {
      token: isGiven ? token || null : undefined,
      receiver: { format: record.format, url: record.url },
      writer: writerOf(c),
    })
}

const poke = (c: Context): void => c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))

export const webhooks = resourceRoutes(contract.webhooks, {
  prefix: 'whk',
  find,
  list,
  present: presentWebhook,
  create: async (db, creation, c) => {
    refuseTemporaryAccess(c.get('principal'), 'A webhook')
    requirePublicUrl(c, creation.record)
    const secret = await ownFeed(c).ensureSecret(c.get('principal'), creation.id)
    const given = withoutToken(creation.record)
    await keepToken(c, creation.id, given)
    const outcome = await createWebhook(db, { ...creation, record: given.record })
    if (outcome.ok) poke(c)
    return { ...outcome, shownOnce: { secret } }
  },
  update: async (db, edit, c) => {
    if (edit.record.url !== edit.before.url)
      refuseTemporaryAccess(c.get('principal'), 'Another address of a webhook')
    requirePublicUrl(c, edit.record)
    const given = withoutToken(edit.record)
    const outcome = await updateWebhook(db, { ...edit, record: given.record })
    if (!outcome.ok) return outcome
    // After it: an edit that is refused changes no token.
    await keepToken(c, edit.before.id, given, edit.before)
    poke(c)
    return outcome
  },
  remove: async (db, deletion, c) => {
    const outcome = await deleteWebhook(db, deletion)
    // If this fails, the feed notices the deleted webhook at its next poll.
    if (outcome.ok)
      c.executionCtx.waitUntil(
        ownFeed(c)
          .deleteWebhook(deletion.id)
          .catch(() => {}),
      )
    return outcome
  },
})
  .post('/:webhookId/test', operation(contract.testWebhook), async (c) => {
    const webhook = await requireWebhook(c)
    const id = await c.get('newId')('dlv')
    const { delivery } = requireOk(
      await waitForReceiver(c, () =>
        ownFeed(c).sendTest(c.get('principal'), webhook, id, writerOf(c)),
      ),
    )
    return reply(c, contract.testWebhook, { success: true, delivery: presentDelivery(delivery) })
  })
  .post('/:webhookId/rotate', operation(contract.rotateSecret), async (c) => {
    refuseTemporaryAccess(c.get('principal'), 'The secret of a webhook')
    const webhook = await requireWebhook(c)
    const rotationId = await c.get('newId')('rot')
    const { secret, until } = await ownFeed(c).rotateSecret(webhook.id, rotationId, writerOf(c))
    return reply(c, contract.rotateSecret, {
      success: true,
      webhook: presentWebhook(webhook),
      secret,
      previousUntil: iso(until),
    })
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
        ownFeed(c).redeliver(c.get('principal'), webhook, id, writerOf(c)),
      )
      const { delivery } = requireOk(outcome)
      return reply(c, contract.redeliver, { success: true, delivery: presentDelivery(delivery) })
    },
  )
