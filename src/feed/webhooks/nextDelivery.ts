import { openCell } from '../../db/open.ts'
import { passes } from '../../domain/event/event.ts'
import { MAX_EVENTS, type Webhook, type WebhookDelivery } from '../../domain/event/webhook.ts'
import { isAlertLane, isEmergencyLane, isInLane, maxEventsOf } from '../../domain/output/output.ts'
import { presentEvent } from '../../events/present.ts'
import { type LoggedEvent, readLog, readSequences } from '../../events/store.ts'
import { newId } from '../../ids.ts'
import {
  dueDelivery,
  hasHoldingDelivery,
  insertDelivery,
  lastAttemptAt,
  readPending,
} from './deliveries.ts'
import type { FeedContext } from './webhookWorker.ts'
import { advanceCursor, saveFailingSince, syncWorkerState } from './workerState.ts'

/* Which delivery of a webhook is attempted next. */

const PAGE_EVENTS = 500
const MAX_BODY_CHARS = 262_144
/** A receiver that was not called for so long is not known to fail any more. */
const UNTRIED_MS = 86_400_000

export interface Batch {
  delivery: WebhookDelivery
  events: LoggedEvent[]
}

/** The first events of a page that the webhook wants and one call can hold, up to `upTo`. */
const selectForDelivery = (webhook: Webhook, page: LoggedEvent[]) => {
  const maxEvents = maxEventsOf(webhook.id, webhook.format, MAX_EVENTS)
  const filter = { types: webhook.events, devices: webhook.devices, groups: webhook.groups }
  const selected: LoggedEvent[] = []
  let bodyChars = 0
  let upTo = 0
  for (const event of page) {
    const isOwn = isInLane(webhook.id, webhook.format, event)
    if (isOwn && passes(filter, null, event)) {
      bodyChars += JSON.stringify(presentEvent(event)).length
      const isTooLong = selected.length > 0 && bodyChars > MAX_BODY_CHARS
      if (selected.length === maxEvents || isTooLong) break
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
        const now = Date.now()
        if (lastAttemptAt(sql, webhook.id) < now - UNTRIED_MS) saveFailingSince(sql, webhook, null)
        advanceCursor(sql, webhook, upTo)
        return insertDelivery(sql, { id, webhookId: webhook.id, sequences, now })
      })
      return { delivery, events: selected }
    }
    advanceCursor(sql, webhook, upTo)
    if (!page.hasMore) return null
  }
}

const readBatch = async (
  { env, owner }: FeedContext,
  delivery: WebhookDelivery,
): Promise<Batch> => {
  const db = openCell(env, owner.cell)
  return { delivery, events: await readSequences(db, owner.accountId, delivery.sequences) }
}

/**
 * So many deliveries may wait for a further attempt before they hold back new ones, if a failure alone
 * does not. Emergencies come to this only by the hundreds.
 */
const MAX_PENDING = 100
const MAX_PENDING_EMERGENCIES = 1000

/**
 * Events are delivered in sequence, and a pending delivery holds back later ones. Not so alerts of
 * outputs, where a new one comes before repeats of others, and what a broker does not confirm.
 */
export const chooseDelivery = async (
  context: FeedContext,
  laneId: string,
  getWebhook: () => Webhook | undefined,
): Promise<Batch | null> => {
  const { sql } = context.storage
  const maxPending = isEmergencyLane(laneId) ? MAX_PENDING_EMERGENCIES : MAX_PENDING
  const create = async () =>
    readPending(sql, laneId).count < maxPending ? createDelivery(context, getWebhook) : null
  const repeat = async () => {
    const due = dueDelivery(sql, laneId, Date.now())
    return due ? readBatch(context, due) : null
  }
  if (isAlertLane(laneId)) return (await create()) ?? repeat()
  return (await repeat()) ?? (hasHoldingDelivery(sql, laneId) ? null : create())
}
