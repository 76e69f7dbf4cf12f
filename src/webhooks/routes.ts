import { Hono } from 'hono'
import { iso } from '../domain/iso.ts'
import { checkPublicUrl } from '../domain/publicUrl.ts'
import type { Webhook, WebhookRecord } from '../domain/webhook.ts'
import { allowsLoopback } from '../env.ts'
import { type Feed, feedOf, pokeFeed } from '../feed/stub.ts'
import type { AppEnv, Context } from '../http/context.ts'
import { retryOnConflict } from '../http/editResource.ts'
import { expectedVersions, replyWithEtag } from '../http/etag.ts'
import { operation } from '../http/operation.ts'
import { readCursor, replyPage } from '../http/page.ts'
import { applyPatch } from '../http/patch.ts'
import { invalid, Problem } from '../http/problem.ts'
import * as contract from './contract.ts'
import { deleteWebhook, insertWebhook, updateWebhook, type WebhookOutcome } from './edit.ts'
import { presentDelivery, presentWebhook } from './present.ts'
import { findWebhook, listWebhooks } from './store.ts'

const feed = (c: Context): Feed => feedOf(c.env, c.get('principal').accountId)

/** The webhook in the path. */
const known = async (c: Context): Promise<Webhook> => {
  const webhook = await findWebhook(
    c.get('db'),
    c.get('principal').accountId,
    c.req.param('webhookId') ?? '',
  )
  if (!webhook) throw new Problem('not-found')
  return webhook
}

/** What the contract lets pass on a development machine alone. */
const checked = (c: Context, record: WebhookRecord): WebhookRecord => {
  const finding = checkPublicUrl(record.url, allowsLoopback(c.env))
  if (!finding.ok) throw invalid({ pointer: '/url', detail: finding.detail })
  return record
}

const settled = (outcome: WebhookOutcome): Webhook => {
  if (!outcome.ok)
    throw new Problem(outcome.refusal, 'errors' in outcome ? { errors: outcome.errors } : {})
  return outcome.webhook
}

/** Reads, makes the edit and writes it; begins again where a rival came between and the caller does not mind. */
const edit = async (c: Context, change: (before: Webhook) => WebhookRecord) => {
  const after = await retryOnConflict(c, async () => {
    const before = await known(c)
    const [version = before.version] = expectedVersions(c, before.version)
    const record = checked(c, change(before))
    const outcome = await updateWebhook(
      c.get('db'),
      c.get('principal').accountId,
      before.id,
      record,
      version,
      Date.now(),
    )
    return !outcome.ok && outcome.refusal === 'precondition-failed'
      ? outcome.refusal
      : settled(outcome)
  })
  c.executionCtx.waitUntil(pokeFeed(c.env, c.get('principal')))
  return replyWithEtag(c, { success: true, webhook: presentWebhook(after) }, after.version)
}

export const webhooks = new Hono<AppEnv>()
  .get('/', operation(contract.listWebhooks), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const [after = ''] = (await readCursor(c, cursor)) ?? []
    const rows = await listWebhooks(
      c.get('db'),
      c.get('principal').accountId,
      String(after),
      limit + 1,
    )
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return replyPage(
      c,
      'webhooks',
      page.map(presentWebhook),
      rows.length > limit && last ? [last.id] : null,
    )
  })
  .post('/', operation(contract.createWebhook), async (c) => {
    const principal = c.get('principal')
    const record = checked(c, c.req.valid('json'))
    const id = await c.get('newId')('whk')
    const secret = await feed(c).secretOf(principal, id)
    const webhook = settled(
      await insertWebhook(c.get('db'), principal.accountId, id, record, Date.now()),
    )
    c.executionCtx.waitUntil(pokeFeed(c.env, principal))
    return replyWithEtag(
      c,
      { success: true, webhook: presentWebhook(webhook), secret },
      webhook.version,
      201,
      {
        Location: `/api/webhooks/${id}`,
      },
    )
  })
  .get('/:webhookId', operation(contract.readWebhook), async (c) => {
    const webhook = await known(c)
    return replyWithEtag(c, { success: true, webhook: presentWebhook(webhook) }, webhook.version)
  })
  .put('/:webhookId', operation(contract.replaceWebhook), (c) => edit(c, () => c.req.valid('json')))
  .patch('/:webhookId', operation(contract.patchWebhook), (c) =>
    edit(c, (before) =>
      applyPatch(c.req.valid('json'), presentWebhook(before), contract.replaceWebhook),
    ),
  )
  .delete('/:webhookId', operation(contract.deleteWebhook), async (c) => {
    const id = c.req.param('webhookId')
    const outcome = await deleteWebhook(
      c.get('db'),
      c.get('principal').accountId,
      id,
      c.get('ifMatch'),
    )
    if (!outcome.ok) throw new Problem(outcome.refusal)
    c.executionCtx.waitUntil(
      feed(c)
        .forgetWebhook(id)
        .catch(() => {}),
    )
    return c.json({ success: true as const })
  })
  .post('/:webhookId/test', operation(contract.testWebhook), async (c) => {
    const webhook = await known(c)
    const delivery = await feed(c).tryOut(c.get('principal'), webhook, await c.get('newId')('dlv'))
    return c.json({ success: true as const, delivery: presentDelivery(delivery) })
  })
  .post('/:webhookId/rotate', operation(contract.rotateSecret), async (c) => {
    const webhook = await known(c)
    const { secret, until } = await feed(c).rotate(webhook.id, await c.get('newId')('rot'))
    return c.json({
      success: true as const,
      webhook: presentWebhook(webhook),
      secret,
      previousUntil: iso(until),
    })
  })
  .get('/:webhookId/deliveries', operation(contract.listDeliveries), async (c) => {
    const { limit, cursor } = c.req.valid('query')
    const webhook = await known(c)
    const [before = Number.MAX_SAFE_INTEGER] = (await readCursor(c, cursor)) ?? []
    const rows = await feed(c).deliveries(webhook.id, Number(before), limit + 1)
    const page = rows.slice(0, limit)
    const last = page.at(-1)
    return replyPage(
      c,
      'deliveries',
      page.map(presentDelivery),
      rows.length > limit && last ? [last.number] : null,
    )
  })
  .post(
    '/:webhookId/deliveries/:deliveryId/redeliver',
    operation(contract.redeliver),
    async (c) => {
      const outcome = await feed(c).redeliver(
        c.get('principal'),
        await known(c),
        c.req.param('deliveryId'),
      )
      if (!outcome.ok) throw new Problem(outcome.refusal)
      return c.json({ success: true as const, delivery: presentDelivery(outcome.delivery) })
    },
  )
