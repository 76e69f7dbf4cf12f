import { openCell } from '../../db/open.ts'
import type { Writer } from '../../domain/admin/audit.ts'
import type { Webhook, WebhookDelivery } from '../../domain/event/webhook.ts'
import { iso } from '../../domain/time/iso.ts'
import { readSequences } from '../../events/store.ts'
import { newId } from '../../ids.ts'
import { postAudit } from '../auditOutbox.ts'
import { testRecord } from '../outputs/records.ts'
import { prepareSplit } from '../outputs/refusal.ts'
import { isOutput, sendRecords } from '../outputs/sendOutput.ts'
import type { AttemptResult } from './attempt.ts'
import {
  beginManualAttempt,
  endAttempt,
  findDelivery,
  insertDelivery,
  keepDelivered,
  readDelivery,
} from './deliveries.ts'
import { bodyOf, sendDelivery, sendEvents } from './sendEvents.ts'
import { type FeedContext, RISKY } from './webhookWorker.ts'
import { recordResult } from './workerState.ts'

/* Deliveries on request: attempted at once and once, outside the webhook's sequence. */

/** With the time for the call, less than the 30 s for which a request holds its Idempotency-Key. */
const MAX_WAIT_MS = 10_000

export type ManualDelivery =
  | { ok: true; delivery: WebhookDelivery }
  | { ok: false; refusal: 'delivery-not-found' | 'delivery-gone' | 'no-location' | 'unavailable' }

/** The event of a test is not in the log, so its sequence is 0. */
const testEvent = async ({ owner }: FeedContext, webhook: Webhook) => ({
  id: await newId('evt'),
  type: 'webhook.test',
  time: iso(Date.now()),
  sequence: 0,
  accountId: owner.accountId,
  data: { webhookId: webhook.id },
})

type Send = (deliveryId: string) => Promise<AttemptResult>

/** Null if the format needs a position and no device has one. */
const prepareTest = async (context: FeedContext, webhook: Webhook): Promise<Send | null> => {
  if (isOutput(webhook)) {
    const { env, owner } = context
    const record = await testRecord(openCell(env, owner.cell), owner.accountId, webhook)
    return record && ((deliveryId) => sendRecords(context, webhook, deliveryId, [record]))
  }
  const event = await testEvent(context, webhook)
  const body = await bodyOf(context, [event])
  return (deliveryId) => sendDelivery(context, webhook, deliveryId, body)
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
  const send = await prepareTest(context, webhook)
  if (!send) return { ok: false, refusal: 'no-location' }
  const call = async () => {
    const now = Date.now()
    return { now, result: await send(id) }
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

/**
 * A success also ends the scheduled attempts; a failure leaves them as they are. What is left of a
 * delivery that was sent in part becomes another one, with the same schedule.
 */
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
  const send: Send | null = isTest
    ? await prepareTest(context, webhook)
    : (deliveryId) => sendEvents(context, webhook, deliveryId, events)
  if (!send) return { ok: false, refusal: 'no-location' }
  const call = () => {
    const now = Date.now()
    const repeated = { action: 'webhook.redelivered', changes: { delivery: id } }
    storage.transactionSync(() => {
      beginManualAttempt(sql, delivery, now)
      postAudit(sql, { writer, ...repeated, webhookId: webhook.id, now })
    })
    return send(id)
  }
  const called = await receiverCalls.run(call, RISKY, MAX_WAIT_MS)
  if (!called) return { ok: false, refusal: 'unavailable' }
  const rest = called.sent?.rest ?? []
  const split = await prepareSplit({ isRefused: false, rest }, delivery)
  const after = findDelivery(sql, webhook.id, id)
  if (!after) return { ok: false, refusal: 'delivery-not-found' }
  // A scheduled attempt may have been sent in part during the call.
  const isWhole = after.sequences.length === delivery.sequences.length
  const result = (isWhole && called.sent?.result) || called
  const isDelivered = result.failure === null
  storage.transactionSync(() => {
    if (isWhole)
      for (const part of split(sql, Date.now())) {
        endAttempt(sql, part, called, after.nextAttempt)
        keepDelivered(sql, part, after)
      }
    endAttempt(sql, delivery, result, isDelivered ? null : after.nextAttempt)
    if (!isDelivered) return
    const lane = { ...webhook, id: delivery.webhookId }
    recordResult(sql, lane, { result, failingSince: null, now: Date.now() })
  })
  // An old one may be deleted as the rest is stored.
  const ended = findDelivery(sql, webhook.id, id)
  return ended ? { ok: true, delivery: ended } : { ok: false, refusal: 'delivery-not-found' }
}
