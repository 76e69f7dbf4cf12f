import { type DisabledReason, MAX_EVENTS, type Webhook } from '../../domain/event/webhook.ts'
import { isAlertEvent, isAlertLane, maxEventsOf } from '../../domain/output/output.ts'
import type { Env } from '../../env.ts'
import { Admission } from '../../http/admission/admission.ts'
import { isRefused, prepareSplit, repeatsOf } from '../outputs/refusal.ts'
import type { FeedOwner } from '../stub.ts'
import { beginAttempt, endAttempt, isPendingDelivery } from './deliveries.ts'
import { type Batch, chooseDelivery } from './nextDelivery.ts'
import { nextStep } from './nextStep.ts'
import { sendEvents } from './sendEvents.ts'
import {
  hasAlertLanes,
  lastSuccessAt,
  readWorkerState,
  recordResult,
  syncWorkerState,
} from './workerState.ts'

/*
 * Delivers a webhook's events in sequence, one call at a time. The cursor and the delivery are
 * written in one transaction, so that no event is skipped. A call that a crash interrupts is
 * repeated.
 */

export interface FeedContext {
  env: Env
  storage: DurableObjectStorage
  owner: FeedOwner
  /** The receivers that are being called. */
  receiverCalls: Admission
}

/** An object has six connections and needs two of them for D1. */
const MAX_CALLS = 4
/**
 * The key of calls that are likely to hang, and in an account with outputs of all but alerts: they
 * leave one slot to the others.
 */
export const RISKY = 'risky'

export const newReceiverCalls = (): Admission =>
  new Admission({
    limits: { max: MAX_CALLS, maxPerKey: MAX_CALLS - 1 },
    maxWaiting: { max: Number.POSITIVE_INFINITY },
  })

/** An attempt that a crash interrupted is repeated after this time. */
export const ATTEMPT_LEASE_MS = 60_000
/** Between calls, so that events in quick succession share one. A full call is followed at once. */
const BATCH_PAUSE_MS = 100

export type DisableWebhook = (webhook: Webhook, reason: DisabledReason) => Promise<void>

/**
 * Calls the receiver. Null if the delivery is final, or the webhook is no longer enabled: both may
 * have changed while the attempt waited for its slot.
 */
const attemptDelivery = async (
  context: FeedContext,
  batch: Batch,
  receiver: Webhook | undefined,
) => {
  if (!receiver) return null
  const startedAt = Date.now()
  const { sql } = context.storage
  const attempts = beginAttempt(sql, batch.delivery, startedAt, startedAt + ATTEMPT_LEASE_MS)
  if (attempts === null) return null
  const result = await sendEvents(context, receiver, batch.delivery.id, batch.events)
  return { receiver, attempts, result }
}

/**
 * Makes the next attempt that is due. Returns the pause before the one after it in milliseconds,
 * or null when nothing is due. `getWebhook` returns the current webhook while it is enabled.
 */
export const deliverNext = async (
  context: FeedContext,
  getWebhook: () => Webhook | undefined,
  disable: DisableWebhook,
): Promise<number | null> => {
  const { storage, receiverCalls } = context
  const { sql } = storage
  const webhook = getWebhook()
  if (!webhook) return null
  const batch = await chooseDelivery(context, webhook.id, getWebhook)
  const current = getWebhook()
  if (!batch || !current) return null
  const isFailing = syncWorkerState(sql, current).failingSince !== null
  // Our own format has alerts among the other events.
  const isBehindAlerts = current.format !== 'json' && !isAlertLane(current.id) && hasAlertLanes(sql)
  const attempt = await receiverCalls.run(
    () => attemptDelivery(context, batch, getWebhook()),
    isFailing || isBehindAlerts ? RISKY : undefined,
  )
  if (!attempt) return getWebhook() ? 0 : null
  const { receiver, attempts } = attempt
  const { result, rest } = attempt.result.sent ?? { result: attempt.result, rest: [] }
  const { delivery } = batch
  const now = Date.now()
  // What an edited webhook was replied before says nothing about its receiver now.
  const isCurrent = getWebhook()?.version === receiver.version
  const state = isCurrent ? readWorkerState(sql, receiver) : undefined
  const succeededAt = state?.succeededAt ?? null
  const hasAlerts = batch.events.some(({ type }) => isAlertEvent(type))
  const attempted = { delivery, hasAlerts, attempts, succeededAt }
  const isFinal = isCurrent && isRefused(receiver, result, attempted)
  const limits = { isRefused: isFinal, repeats: repeatsOf(receiver, delivery) }
  const since = {
    failingSince: state?.failingSince ?? null,
    lastSuccessAt: lastSuccessAt(sql, receiver),
  }
  const reply = isCurrent ? result : { ...result, responseCode: null }
  const random = Math.random()
  const step = nextStep({ result: reply, attempts, ...since, now, random, ...limits })
  if (step.disable) await disable(receiver, step.disable)
  const split = await prepareSplit({ isRefused: isFinal && !step.disable, rest }, delivery)
  storage.transactionSync(() => {
    // During the call the webhook may have been deleted, or the delivery sent by hand.
    const isOpen = isPendingDelivery(sql, delivery)
    endAttempt(sql, delivery, isOpen ? result : attempt.result, step.nextAttempt)
    if (!isOpen) return
    split(sql, now)
    if (isCurrent) recordResult(sql, receiver, { result, failingSince: step.failingSince, now })
  })
  if (step.nextAttempt !== null || rest.length > 0) return 0
  const maxEvents = maxEventsOf(receiver.id, receiver.format, MAX_EVENTS)
  return batch.events.length < maxEvents ? BATCH_PAUSE_MS : 0
}
