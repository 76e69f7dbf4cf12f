import { deleteRows, query, runQuery } from '../../db/objectTable.ts'
import { openCell } from '../../db/open.ts'
import { BacklogReport } from '../../db/queries/backlogs.ts'
import type { Webhook } from '../../domain/event/webhook.ts'
import { logFailure } from '../../log.ts'
import { deliveries, disableNotices, secrets, webhookWorkers } from '../tables.ts'
import { abandonPending, nextAttemptAt, pendingDelivery } from './deliveries.ts'
import {
  ATTEMPT_LEASE_MS,
  type DisableWebhook,
  deliverNext,
  type FeedContext,
} from './webhookWorker.ts'
import { readFailing, syncWorkerState } from './workerState.ts'

/** A secret is created just before its webhook. A younger one may belong to a webhook to come. */
const ORPHAN_GRACE_MS = 300_000

/** Deletes everything that the feed stores about a webhook. */
export const deleteWebhookRows = (sql: SqlStorage, webhookId: string): void => {
  for (const table of [secrets, webhookWorkers, deliveries, disableNotices])
    deleteRows(sql, table, query`${table.webhookId} = ${webhookId}`)
}

const deleteRowsOfDeletedWebhooks = (sql: SqlStorage, webhooks: Webhook[], now: number): void => {
  const known = new Set(webhooks.map(({ id }) => id))
  const stored = runQuery<{ id: string }>(
    sql,
    query`SELECT DISTINCT ${secrets.webhookId} AS id FROM ${secrets}
      WHERE ${secrets.creation} < ${now - ORPHAN_GRACE_MS}`,
  )
  for (const { id } of stored.toArray()) if (!known.has(id)) deleteWebhookRows(sql, id)
}

/** One worker per enabled webhook. They run independently and share the slots of receivers. */
export class WebhookWorkers {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #running = new Set<string>()
  readonly #requested = new Set<string>()
  readonly #backlog = new BacklogReport()
  readonly #getContext: () => FeedContext | undefined
  readonly #disable: DisableWebhook
  readonly #onIdle: () => void

  /** `onIdle` is called whenever a worker stops: its next attempt may have changed. */
  constructor(
    getContext: () => FeedContext | undefined,
    disable: DisableWebhook,
    onIdle: () => void,
  ) {
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
  nextPollAt(sql: SqlStorage, now: number): number | null {
    const nextAttempt = nextAttemptAt(sql, this.#running)
    if (this.#running.size === 0) return nextAttempt
    return Math.min(nextAttempt ?? Number.POSITIVE_INFINITY, now + ATTEMPT_LEASE_MS)
  }

  /** Stops delivering while the account is disabled. What is stored stays. */
  pause(): void {
    this.#webhooks.clear()
  }

  /** Takes over the account's webhooks and starts the workers that have something to deliver. */
  update(sql: SqlStorage, webhooks: Webhook[], head: number, now: number): void {
    this.#webhooks.clear()
    for (const webhook of webhooks) {
      if (webhook.enabled) this.#webhooks.set(webhook.id, webhook)
      else abandonPending(sql, webhook.id)
    }
    deleteRowsOfDeletedWebhooks(sql, webhooks, now)
    void this.#reportBehind(sql, webhooks, now).catch(() => {})
    for (const webhook of this.#webhooks.values()) {
      const hasNewEvents = syncWorkerState(sql, webhook).cursor < head
      const nextAttempt = pendingDelivery(sql, webhook.id)?.nextAttempt ?? null
      if (hasNewEvents || (nextAttempt !== null && nextAttempt <= now)) this.#start(webhook.id)
    }
  }

  /** The operator sees the webhooks that have failed for some minutes. */
  async #reportBehind(sql: SqlStorage, webhooks: Webhook[], now: number): Promise<void> {
    const context = this.#getContext()
    if (!context) return
    const { accountId, cell } = context.owner
    const behind = readFailing(sql, webhooks, now)
    const db = openCell(context.env, cell)
    await this.#backlog.report(db, { accountId, kind: 'webhook', behind, now })
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
