import { openCell } from '../db/open.ts'
import { iso } from '../domain/iso.ts'
import type { Webhook, WebhookDelivery } from '../domain/webhook.ts'
import { readSequences } from '../events/store.ts'
import { newId } from '../ids.ts'
import { beginManualAttempt, endAttempt, findDelivery, insertDelivery } from './deliveries.ts'
import { deliveryBody, type FeedContext, recordFailingSince, send } from './webhookWorker.ts'

/* Deliveries that somebody asked for: made at once, once, beside the webhook's own sequence. */

export type ManualDelivery =
  | { ok: true; delivery: WebhookDelivery }
  | { ok: false; refusal: 'not-found' | 'delivery-gone' }

const found = (delivery: WebhookDelivery | null): WebhookDelivery => {
  if (!delivery) throw new Error('a delivery that was just made is not there')
  return delivery
}

/** What a test brings: an event that is not in the log. */
const testBody = async ({ owner }: FeedContext, webhook: Webhook): Promise<string> => {
  const data = { webhookId: webhook.id }
  const event = {
    id: await newId('evt'),
    type: 'webhook.test',
    time: iso(Date.now()),
    sequence: 0,
    accountId: owner.accountId,
    data,
  }
  return JSON.stringify({ events: [event] })
}

/** A test that is asked for again by the same request is the one that was made. */
export const sendTest = async (
  context: FeedContext,
  webhook: Webhook,
  id: string,
): Promise<WebhookDelivery> => {
  const { sql } = context.storage
  const made = findDelivery(sql, webhook.id, id)
  if (made) return made
  const now = Date.now()
  const result = await send(context, webhook, id, await testBody(context, webhook))
  context.storage.transactionSync(() => {
    const delivery = insertDelivery(sql, id, webhook.id, [], now)
    beginManualAttempt(sql, delivery, now)
    endAttempt(sql, delivery, result, null)
  })
  return found(findDelivery(sql, webhook.id, id))
}

/** A success is one, whoever brought it about; a failure changes nothing of what is still to come. */
export const redeliver = async (
  context: FeedContext,
  webhook: Webhook,
  id: string,
): Promise<ManualDelivery> => {
  const { env, storage, owner } = context
  const { sql } = storage
  const delivery = findDelivery(sql, webhook.id, id)
  if (!delivery) return { ok: false, refusal: 'not-found' }
  const isTest = delivery.sequences.length === 0
  const events = await readSequences(openCell(env, owner.cell), owner.accountId, delivery.sequences)
  if (!isTest && events.length === 0) return { ok: false, refusal: 'delivery-gone' }
  beginManualAttempt(sql, delivery, Date.now())
  const result = await send(
    context,
    webhook,
    id,
    isTest ? await testBody(context, webhook) : deliveryBody(events),
  )
  const after = findDelivery(sql, webhook.id, id)
  if (!after) return { ok: false, refusal: 'not-found' }
  storage.transactionSync(() => {
    endAttempt(sql, delivery, result, result.failure === null ? null : after.nextAttempt)
    if (result.failure === null) recordFailingSince(sql, webhook, null)
  })
  return { ok: true, delivery: found(findDelivery(sql, webhook.id, id)) }
}
