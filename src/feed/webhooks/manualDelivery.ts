import { openCell } from '../../db/open.ts'
import type { Writer } from '../../domain/admin/audit.ts'
import type { Webhook, WebhookDelivery } from '../../domain/event/webhook.ts'
import { iso } from '../../domain/time/iso.ts'
import { readSequences } from '../../events/store.ts'
import { newId } from '../../ids.ts'
import { postAudit } from '../auditOutbox.ts'
import {
  beginManualAttempt,
  endAttempt,
  findDelivery,
  insertDelivery,
  readDelivery,
} from './deliveries.ts'
import { deliveryBody, type FeedContext, RISKY, sendDelivery } from './webhookWorker.ts'
import { saveFailingSince } from './workerState.ts'

/* Deliveries on request: attempted at once and once, outside the webhook's sequence. */

/** With the time for the call, less than the 30 s for which a request holds its Idempotency-Key. */
const MAX_WAIT_MS = 10_000

export type ManualDelivery =
  | { ok: true; delivery: WebhookDelivery }
  | { ok: false; refusal: 'delivery-not-found' | 'delivery-gone' | 'unavailable' }

/** The event of a test is not in the log, so its sequence is 0. */
const testBody = async ({ owner }: FeedContext, webhook: Webhook): Promise<string> => {
  const event = {
    id: await newId('evt'),
    type: 'webhook.test',
    time: iso(Date.now()),
    sequence: 0,
    accountId: owner.accountId,
    data: { webhookId: webhook.id },
  }
  return JSON.stringify({ events: [event] })
}

/** A retry of the same request has the same id: it returns the test that was sent. */
export const sendTest = async (
  context: FeedContext,
  webhook: Webhook,
  id: string,
  writer: Writer,
): Promise<ManualDelivery> => {
  const { receiverCalls, storage } = context
  const { sql } = storage
  const existing = findDelivery(sql, webhook.id, id)
  if (existing) return { ok: true, delivery: existing }
  const body = await testBody(context, webhook)
  const call = async () => {
    const now = Date.now()
    return { now, result: await sendDelivery(context, webhook, id, body) }
  }
  const sent = await receiverCalls.run(call, RISKY, MAX_WAIT_MS)
  if (!sent) return { ok: false, refusal: 'unavailable' }
  const { now, result } = sent
  storage.transactionSync(() => {
    const delivery = insertDelivery(sql, { id, webhookId: webhook.id, sequences: [], now })
    beginManualAttempt(sql, delivery, now)
    endAttempt(sql, delivery, result, null)
    const changes = { delivery: id, failure: result.failure }
    postAudit(sql, { writer, action: 'webhook.tested', webhookId: webhook.id, changes, now })
  })
  return { ok: true, delivery: readDelivery(sql, webhook.id, id) }
}

/** A success also ends the scheduled attempts; a failure leaves them as they are. */
export const redeliver = async (
  context: FeedContext,
  webhook: Webhook,
  id: string,
  writer: Writer,
): Promise<ManualDelivery> => {
  const { env, storage, owner, receiverCalls } = context
  const { sql } = storage
  const delivery = findDelivery(sql, webhook.id, id)
  if (!delivery) return { ok: false, refusal: 'delivery-not-found' }
  const isTest = delivery.sequences.length === 0
  const events = await readSequences(openCell(env, owner.cell), owner.accountId, delivery.sequences)
  if (!isTest && events.length === 0) return { ok: false, refusal: 'delivery-gone' }
  const body = isTest ? await testBody(context, webhook) : deliveryBody(events)
  const call = () => {
    const now = Date.now()
    const repeated = { action: 'webhook.redelivered', changes: { delivery: id } }
    storage.transactionSync(() => {
      beginManualAttempt(sql, delivery, now)
      postAudit(sql, { writer, ...repeated, webhookId: webhook.id, now })
    })
    return sendDelivery(context, webhook, id, body)
  }
  const result = await receiverCalls.run(call, RISKY, MAX_WAIT_MS)
  if (!result) return { ok: false, refusal: 'unavailable' }
  const after = findDelivery(sql, webhook.id, id)
  if (!after) return { ok: false, refusal: 'delivery-not-found' }
  const isDelivered = result.failure === null
  storage.transactionSync(() => {
    endAttempt(sql, delivery, result, isDelivered ? null : after.nextAttempt)
    if (isDelivered) saveFailingSince(sql, webhook, null)
  })
  return { ok: true, delivery: readDelivery(sql, webhook.id, id) }
}
