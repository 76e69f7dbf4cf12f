import { and, eq, lt, notInArray } from 'drizzle-orm'
import type { Webhook } from '../../domain/event/webhook.ts'
import { logFailure } from '../../log.ts'
import {
  deliveries,
  disableNotices,
  type FeedDatabase,
  secrets,
  webhookWorkers,
} from '../tables.ts'
import { abandonPending, nextAttemptAt, pendingDelivery } from './deliveries.ts'
import {
  ATTEMPT_LEASE_MS,
  type DisableWebhook,
  deliverNext,
  type FeedContext,
} from './webhookWorker.ts'
import { syncWorkerState } from './workerState.ts'

/** A secret is created just before its webhook. A younger one may belong to a webhook to come. */
const ORPHAN_GRACE_MS = 300_000

/** Deletes everything that the feed stores about a webhook. */
export const deleteWebhookRows = (db: FeedDatabase, id: string): void => {
  for (const table of [secrets, webhookWorkers, deliveries, disableNotices])
    db.delete(table).where(eq(table.webhookId, id)).run()
}

const deleteRowsOfDeletedWebhooks = (db: FeedDatabase, webhooks: Webhook[], now: number): void => {
  const ids = webhooks.map(({ id }) => id)
  const deleted = db
    .selectDistinct({ id: secrets.webhookId })
    .from(secrets)
    .where(and(lt(secrets.creation, now - ORPHAN_GRACE_MS), notInArray(secrets.webhookId, ids)))
    .all()
  for (const { id } of deleted) deleteWebhookRows(db, id)
}

/** One worker per enabled webhook. They run independently and share the slots of receivers. */
export class WebhookWorkers {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #running = new Set<string>()
  readonly #requested = new Set<string>()
  readonly #getContext: () => FeedContext | null
  readonly #disable: DisableWebhook
  readonly #onIdle: () => void

  /** `onIdle` is called whenever a worker stops: its next attempt may have changed. */
  constructor(getContext: () => FeedContext | null, disable: DisableWebhook, onIdle: () => void) {
    this.#getContext = getContext
    this.#disable = disable
    this.#onIdle = onIdle
  }

  /** How many webhooks are enabled. */
  get size(): number {
    return this.#webhooks.size
  }

  /**
   * When the feed must poll for the next attempt. A running worker needs no poll, unless it is
   * interrupted: it may wait for a slot long after its attempt was due.
   */
  nextPollAt(db: FeedDatabase, now: number): number | null {
    const nextAttempt = nextAttemptAt(db, this.#running)
    if (this.#running.size === 0) return nextAttempt
    return Math.min(nextAttempt ?? Number.POSITIVE_INFINITY, now + ATTEMPT_LEASE_MS)
  }

  /** Stops delivering while the account is disabled. What is stored stays. */
  pause(): void {
    this.#webhooks.clear()
  }

  /** Takes over the account's webhooks and starts the workers that have something to deliver. */
  update(db: FeedDatabase, webhooks: Webhook[], head: number, now: number): void {
    this.#webhooks.clear()
    for (const webhook of webhooks) {
      if (webhook.enabled) this.#webhooks.set(webhook.id, webhook)
      else abandonPending(db, webhook.id)
    }
    deleteRowsOfDeletedWebhooks(db, webhooks, now)
    for (const webhook of this.#webhooks.values()) {
      const hasNewEvents = syncWorkerState(db, webhook).cursor < head
      const nextAttempt = pendingDelivery(db, webhook.id)?.nextAttempt ?? null
      if (hasNewEvents || (nextAttempt !== null && nextAttempt <= now)) this.#start(webhook.id)
    }
  }

  remove(id: string): void {
    this.#webhooks.delete(id)
  }

  /** A worker that runs already checks once more before it stops. */
  #start(id: string): void {
    this.#requested.add(id)
    if (this.#running.has(id)) return
    this.#running.add(id)
    void this.#run(id).finally(() => {
      this.#running.delete(id)
      this.#onIdle()
    })
  }

  async #run(id: string): Promise<void> {
    const context = this.#getContext()
    if (!context) return
    const deliver = () => deliverNext(context, () => this.#webhooks.get(id), this.#disable)
    try {
      while (this.#requested.delete(id)) {
        for (let pauseMs = await deliver(); pauseMs !== null; pauseMs = await deliver())
          await scheduler.wait(pauseMs)
      }
    } catch (error) {
      logFailure('webhook-worker-failed', error, { webhook: id })
    }
  }
}
