import { openCell } from '../db/open.ts'
import { passes } from '../domain/event.ts'
import {
  type DisabledReason,
  MAX_EVENTS,
  type Webhook,
  type WebhookDelivery,
} from '../domain/webhook.ts'
import { GIVEN_UP_AFTER, waitAfter } from '../domain/webhookRetry.ts'
import type { Env } from '../env.ts'
import { presentEvent } from '../events/present.ts'
import { type LoggedEvent, readLog, readSequences } from '../events/store.ts'
import { newId } from '../ids.ts'
import { type Attempt, callReceiver } from './attempt.ts'
import {
  abandonPending,
  beginAttempt,
  endAttempt,
  insertDelivery,
  pendingDelivery,
} from './deliveries.ts'
import { liveSecrets } from './secrets.ts'
import { signatureHeaders } from './signature.ts'
import type { FeedOwner } from './stub.ts'

/* Brings one webhook its events: in sequence, one call at a time. Position and delivery are written together, so none is lost or made twice. */

export interface FeedContext {
  env: Env
  storage: DurableObjectStorage
  owner: FeedOwner
}

const SCANNED = 500
const MAX_BYTES = 262_144
/** A call that a crash cut short is made again after so long. */
const ATTEMPT_LEASE_MS = 60_000

interface Batch {
  delivery: WebhookDelivery
  events: LoggedEvent[]
}

/**
 * What a webhook knows of its way: where it stands, and since when it has not got through. Enabled again it begins after `since`, and
 * what still waited from before is given up, though nobody looked while it was disabled.
 */
export const readWorkerState = (
  sql: SqlStorage,
  { id, since, url }: Webhook,
): { cursor: number; failingSince: number | null } => {
  const { rowsWritten } = sql.exec(
    `INSERT INTO couriers (webhook_id, cursor, since, url) VALUES (?1, ?2, ?2, ?3) ON CONFLICT DO UPDATE SET
       cursor = max(cursor, excluded.cursor), since = excluded.since, url = excluded.url,
       failing_since = CASE WHEN since = excluded.since AND url = excluded.url THEN failing_since END
     WHERE since <> excluded.since OR url <> excluded.url`,
    id,
    since,
    url,
  )
  if (rowsWritten > 0) abandonPending(sql, id, since)
  const { cursor, failing_since: failingSince } = sql
    .exec<{ cursor: number; failing_since: number | null }>(
      'SELECT cursor, failing_since FROM couriers WHERE webhook_id = ?',
      id,
    )
    .one()
  return { cursor, failingSince }
}

const advanceCursor = (sql: SqlStorage, { id }: Webhook, cursor: number): void => {
  sql.exec('UPDATE couriers SET cursor = ?1 WHERE webhook_id = ?2 AND cursor < ?1', cursor, id)
}

/** The first events of a page that the webhook asks for, as many as one call takes, and how far that is. */
const selectForDelivery = (
  webhook: Webhook,
  page: LoggedEvent[],
): { chosen: LoggedEvent[]; upTo: number } => {
  const filter = { types: webhook.events, devices: webhook.devices, groups: webhook.groups }
  const chosen: LoggedEvent[] = []
  let bytes = 0
  let upTo = 0
  for (const event of page) {
    if (passes(filter, null, event)) {
      bytes += JSON.stringify(presentEvent(event)).length
      if (chosen.length === MAX_EVENTS || (chosen.length > 0 && bytes > MAX_BYTES)) break
      chosen.push(event)
    }
    upTo = event.sequence
  }
  return { chosen, upTo }
}

/** Makes the next delivery from the log; null where nothing is new. */
const createDelivery = async (
  { env, storage, owner }: FeedContext,
  current: () => Webhook | undefined,
): Promise<Batch | null> => {
  const { sql } = storage
  const id = await newId('dlv')
  for (;;) {
    const webhook = current()
    if (!webhook) return null
    const { cursor } = readWorkerState(sql, webhook)
    const page = await readLog(openCell(env, owner.cell), owner.accountId, cursor, SCANNED)
    // Edited while the log was read: it is read again, for what is wanted now.
    if (current()?.version !== webhook.version) continue
    const { chosen, upTo } = selectForDelivery(webhook, page.events)
    if (chosen.length > 0) {
      const sequences = chosen.map(({ sequence }) => sequence)
      const delivery = storage.transactionSync(() => {
        advanceCursor(sql, webhook, upTo)
        return insertDelivery(sql, id, webhook.id, sequences, Date.now())
      })
      return { delivery, events: chosen }
    }
    advanceCursor(sql, webhook, upTo)
    if (!page.hasMore) return null
  }
}

export const recordFailingSince = (
  sql: SqlStorage,
  { id }: Webhook,
  since: number | null,
): void => {
  sql.exec('UPDATE couriers SET failing_since = ? WHERE webhook_id = ?', since, id)
}

export const deliveryBody = (events: LoggedEvent[]): string =>
  JSON.stringify({ events: events.map(presentEvent) })

export const send = async (
  { env, storage }: FeedContext,
  webhook: Webhook,
  deliveryId: string,
  body: string,
): Promise<Attempt> => {
  const now = Date.now()
  const headers = await signatureHeaders(
    liveSecrets(storage.sql, webhook.id, now),
    deliveryId,
    body,
    now,
  )
  return callReceiver(env, webhook.url, headers, body)
}

const GONE = 410

export interface NextStep {
  again: number | null
  disable: DisabledReason | null
  failingSince: number | null
}

/** What follows from an attempt. */
export const nextStep = (
  result: Attempt,
  attempts: number,
  failingSince: number | null,
  now: number,
  chance: number,
): NextStep => {
  if (result.failure === null) return { again: null, disable: null, failingSince: null }
  const began = failingSince ?? now
  if (result.responseCode === GONE) return { again: null, disable: 'gone', failingSince: began }
  if (now - began >= GIVEN_UP_AFTER) return { again: null, disable: 'failing', failingSince: began }
  const wait = waitAfter(attempts, chance)
  return {
    again: wait === null ? null : Math.min(now + wait, began + GIVEN_UP_AFTER),
    disable: null,
    failingSince: began,
  }
}

export type DisableWebhook = (webhook: Webhook, reason: DisabledReason) => Promise<void>

/** Between calls, so that what comes fast gathers; a call that is full is followed at once. */
const PAUSE = 100

/**
 * Carries out the next attempt that is due, and answers how long to wait before the one after it; null where there is nothing to do
 * now. `current` is the webhook as it stands, if it is enabled.
 */
export const deliverNext = async (
  context: FeedContext,
  current: () => Webhook | undefined,
  giveUp: DisableWebhook,
): Promise<number | null> => {
  const { env, storage, owner } = context
  const { sql } = storage
  const webhook = current()
  if (!webhook) return null
  const waiting = pendingDelivery(sql, webhook.id)
  if (waiting && (waiting.nextAttempt ?? 0) > Date.now()) return null
  const batch = waiting
    ? {
        delivery: waiting,
        events: await readSequences(openCell(env, owner.cell), owner.accountId, waiting.sequences),
      }
    : await createDelivery(context, current)
  const receiver = current()
  if (!batch || !receiver) return null
  const began = Date.now()
  const attempts = beginAttempt(sql, batch.delivery, began, began + ATTEMPT_LEASE_MS)
  if (attempts === null) return 0
  const result = await send(context, receiver, batch.delivery.id, deliveryBody(batch.events))
  const now = Date.now()
  const verdict = nextStep(
    result,
    attempts,
    readWorkerState(sql, receiver).failingSince,
    now,
    Math.random(),
  )
  if (verdict.disable) await giveUp(receiver, verdict.disable)
  storage.transactionSync(() => {
    endAttempt(sql, batch.delivery, result, verdict.again)
    recordFailingSince(sql, receiver, verdict.failingSince)
  })
  if (verdict.again !== null) return null
  return batch.events.length < MAX_EVENTS ? PAUSE : 0
}
