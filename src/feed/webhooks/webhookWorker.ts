import { openCell } from '../../db/open.ts'
import { passes } from '../../domain/event/event.ts'
import {
  type DisabledReason,
  MAX_EVENTS,
  type Webhook,
  type WebhookDelivery,
} from '../../domain/event/webhook.ts'
import { DISABLE_AFTER_MS, retryDelayMs } from '../../domain/event/webhookRetry.ts'
import type { Env } from '../../env.ts'
import { presentEvent } from '../../events/present.ts'
import { type LoggedEvent, readLog, readSequences } from '../../events/store.ts'
import { Admission } from '../../http/admission/admission.ts'
import { newId } from '../../ids.ts'
import type { FeedOwner } from '../stub.ts'
import { type AttemptResult, callReceiver } from './attempt.ts'
import { beginAttempt, endAttempt, insertDelivery, pendingDelivery } from './deliveries.ts'
import { readActiveSecrets } from './secrets.ts'
import { signatureHeaders } from './signature.ts'
import { advanceCursor, saveFailingSince, syncWorkerState } from './workerState.ts'

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
/** The key of calls that are likely to hang: they leave one slot to the others. */
export const RISKY = 'risky'

export const newReceiverCalls = (): Admission =>
  new Admission({
    limits: { max: MAX_CALLS, maxPerKey: MAX_CALLS - 1 },
    maxWaiting: { max: Number.POSITIVE_INFINITY },
  })

const PAGE_EVENTS = 500
const MAX_BODY_CHARS = 262_144
/** An attempt that a crash interrupted is repeated after this time. */
export const ATTEMPT_LEASE_MS = 60_000
/** Between calls, so that events in quick succession share one. A full call is followed at once. */
const BATCH_PAUSE_MS = 100

interface Batch {
  delivery: WebhookDelivery
  events: LoggedEvent[]
}

/** The first events of a page that the webhook wants and one call can hold, up to `upTo`. */
const selectForDelivery = (webhook: Webhook, page: LoggedEvent[]) => {
  const filter = { types: webhook.events, devices: webhook.devices, groups: webhook.groups }
  const selected: LoggedEvent[] = []
  let bodyChars = 0
  let upTo = 0
  for (const event of page) {
    if (passes(filter, null, event)) {
      bodyChars += JSON.stringify(presentEvent(event)).length
      const isTooLong = selected.length > 0 && bodyChars > MAX_BODY_CHARS
      if (selected.length === MAX_EVENTS || isTooLong) break
      selected.push(event)
    }
    upTo = event.sequence
  }
  return { selected, upTo }
}

/** Creates the next delivery from the log; null when there are no new events. */
const createDelivery = async (
  { env, storage, owner }: FeedContext,
  getWebhook: () => Webhook | undefined,
): Promise<Batch | null> => {
  const id = await newId('dlv')
  const { sql } = storage
  for (;;) {
    const webhook = getWebhook()
    if (!webhook) return null
    const { cursor } = syncWorkerState(sql, webhook)
    const page = await readLog(openCell(env, owner.cell), owner.accountId, cursor, PAGE_EVENTS)
    // After an edit the page is read again, for the new filter.
    if (getWebhook()?.version !== webhook.version) continue
    const { selected, upTo } = selectForDelivery(webhook, page.events)
    if (selected.length > 0) {
      const sequences = selected.map(({ sequence }) => sequence)
      const delivery = storage.transactionSync(() => {
        advanceCursor(sql, webhook, upTo)
        return insertDelivery(sql, { id, webhookId: webhook.id, sequences, now: Date.now() })
      })
      return { delivery, events: selected }
    }
    advanceCursor(sql, webhook, upTo)
    if (!page.hasMore) return null
  }
}

export const deliveryBody = (events: LoggedEvent[]): string =>
  JSON.stringify({ events: events.map(presentEvent) })

/** Signs a body and calls the webhook's receiver with it. */
export const sendDelivery = async (
  { env, storage }: FeedContext,
  webhook: Webhook,
  deliveryId: string,
  body: string,
): Promise<AttemptResult> => {
  const now = Date.now()
  const secrets = readActiveSecrets(storage.sql, webhook.id, now)
  const headers = await signatureHeaders(secrets, deliveryId, body, now)
  return callReceiver(env, webhook.url, headers, body)
}

const GONE = 410

interface EndedAttempt {
  result: AttemptResult
  /** Scheduled attempts of the delivery so far; manual ones do not count. */
  attempts: number
  failingSince: number | null
  now: number
  /** 0–1, for the jitter. */
  random: number
}

export interface NextStep {
  /** When to try again; null for never. */
  nextAttempt: number | null
  disable: DisabledReason | null
  failingSince: number | null
}

export const nextStep = (attempt: EndedAttempt): NextStep => {
  const { result, attempts, now, random } = attempt
  if (result.failure === null) return { nextAttempt: null, disable: null, failingSince: null }
  const failingSince = attempt.failingSince ?? now
  if (result.responseCode === GONE) return { nextAttempt: null, disable: 'gone', failingSince }
  const disableAt = failingSince + DISABLE_AFTER_MS
  if (now >= disableAt) return { nextAttempt: null, disable: 'failing', failingSince }
  const delayMs = retryDelayMs(attempts, random)
  const nextAttempt = delayMs === null ? null : Math.min(now + delayMs, disableAt)
  return { nextAttempt, disable: null, failingSince }
}

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
  const body = deliveryBody(batch.events)
  const result = await sendDelivery(context, receiver, batch.delivery.id, body)
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
  const { env, storage, owner, receiverCalls } = context
  const { sql } = storage
  const webhook = getWebhook()
  if (!webhook) return null
  const pending = pendingDelivery(sql, webhook.id)
  if (pending && (pending.nextAttempt ?? 0) > Date.now()) return null
  const batch = pending
    ? {
        delivery: pending,
        events: await readSequences(openCell(env, owner.cell), owner.accountId, pending.sequences),
      }
    : await createDelivery(context, getWebhook)
  const current = getWebhook()
  if (!batch || !current) return null
  const isFailing = syncWorkerState(sql, current).failingSince !== null
  const attempt = await receiverCalls.run(
    () => attemptDelivery(context, batch, getWebhook()),
    isFailing ? RISKY : undefined,
  )
  if (!attempt) return getWebhook() ? 0 : null
  const { receiver, attempts, result } = attempt
  const { failingSince } = syncWorkerState(sql, receiver)
  const now = Date.now()
  const step = nextStep({ result, attempts, failingSince, now, random: Math.random() })
  if (step.disable) await disable(receiver, step.disable)
  storage.transactionSync(() => {
    endAttempt(sql, batch.delivery, result, step.nextAttempt)
    saveFailingSince(sql, receiver, step.failingSince)
  })
  if (step.nextAttempt !== null) return null
  return batch.events.length < MAX_EVENTS ? BATCH_PAUSE_MS : 0
}
