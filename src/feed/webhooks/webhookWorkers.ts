import { deleteRows, query, runQuery } from '../../db/objectTable.ts'
import { openCell } from '../../db/open.ts'
import { BacklogReport } from '../../db/queries/backlogs.ts'
import type { Webhook } from '../../domain/event/webhook.ts'
import { alertLanesOf, webhookOfLane } from '../../domain/output/output.ts'
import { logFailure } from '../../log.ts'
import { deliveries, disableNotices, outputTokens, secrets, webhookWorkers } from '../tables.ts'
import { abandonPending, nextAttemptAt, readPending } from './deliveries.ts'
import {
  ATTEMPT_LEASE_MS,
  type DisableWebhook,
  deliverNext,
  type FeedContext,
} from './webhookWorker.ts'
import { endAlertLanes, readFailing, syncWorkerState } from './workerState.ts'

/** A secret is created just before its webhook. A younger one may belong to a webhook to come. */
const ORPHAN_GRACE_MS = 300_000

/** Deletes everything that the feed stores about a webhook. */
export const deleteWebhookRows = (sql: SqlStorage, webhookId: string): void => {
  for (const id of [webhookId, ...alertLanesOf(webhookId)])
    for (const table of [secrets, outputTokens, webhookWorkers, deliveries, disableNotices])
      deleteRows(sql, table, query`${table.webhookId} = ${id}`)
}

const deleteRowsOfDeletedWebhooks = (sql: SqlStorage, webhooks: Webhook[], now: number): void => {
  const idsIn = (found: ReturnType<typeof query>): string[] =>
    [...runQuery<{ id: string }>(sql, found)].map(({ id }) => webhookOfLane(id))
  // A sorted UNION would read all deliveries, not the pending ones.
  const stored = idsIn(
    query`SELECT ${secrets.webhookId} AS id FROM ${secrets}
      UNION ALL SELECT ${webhookWorkers.webhookId} FROM ${webhookWorkers}
      UNION ALL SELECT ${deliveries.webhookId} FROM ${deliveries}
        WHERE ${deliveries.nextAttempt} IS NOT NULL`,
  )
  const created = idsIn(
    query`SELECT ${secrets.webhookId} AS id FROM ${secrets}
      WHERE ${secrets.creation} >= ${now - ORPHAN_GRACE_MS}`,
  )
  const known = new Set([...webhooks.map(({ id }) => id), ...created])
  for (const id of new Set(stored)) if (!known.has(id)) deleteWebhookRows(sql, id)
}

/** An output has lanes of their own for alerts. */
const lanesOf = (webhook: Webhook): Webhook[] => {
  const alertLanes = webhook.format === 'json' ? [] : alertLanesOf(webhook.id)
  return [webhook, ...alertLanes.map((id) => ({ ...webhook, id }))]
}

/** One worker per lane of an enabled webhook. They run independently and share the slots of receivers. */
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
    for (const { id, format } of webhooks) if (format === 'json') endAlertLanes(sql, id)
    for (const webhook of webhooks.flatMap(lanesOf)) {
      if (webhook.enabled) this.#webhooks.set(webhook.id, webhook)
      else abandonPending(sql, webhook.id)
    }
    deleteRowsOfDeletedWebhooks(sql, webhooks, now)
    void this.#reportBehind(sql, webhooks, now).catch(() => {})
    for (const webhook of this.#webhooks.values()) {
      const hasNewEvents = syncWorkerState(sql, webhook).cursor < head
      const { nextAttempt } = readPending(sql, webhook.id)
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
    for (const lane of [id, ...alertLanesOf(id)]) this.#webhooks.delete(lane)
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
    const disable: DisableWebhook = (webhook, reason) =>
      this.#disable({ ...webhook, id: webhookOfLane(webhook.id) }, reason)
    const deliver = () => deliverNext(context, () => this.#webhooks.get(id), disable)
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
