import type { Webhook } from '../domain/webhook.ts'
import { logFailure } from '../log.ts'
import { abandonPending, pendingDelivery } from './deliveries.ts'
import {
  type DisableWebhook,
  deliverNext,
  type FeedContext,
  readWorkerState,
} from './webhookWorker.ts'

/** A secret is made just before its webhook: for so long it may be one whose webhook is not there yet. */
const ORPHAN_GRACE_MS = 300_000

const TABLES = ['secrets', 'couriers', 'deliveries', 'disable_notices'] as const

/** Everything that the feed has of a webhook. */
export const forgetWebhook = (sql: SqlStorage, id: string): void => {
  for (const table of TABLES) sql.exec(`DELETE FROM ${table} WHERE webhook_id = ?`, id)
}

const forgetOthers = (sql: SqlStorage, webhooks: Webhook[], now: number): void => {
  const gone = sql
    .exec<{ id: string }>(
      `SELECT DISTINCT webhook_id AS id FROM secrets WHERE creation < ? AND webhook_id NOT IN (SELECT value FROM json_each(?))`,
      now - ORPHAN_GRACE_MS,
      JSON.stringify(webhooks.map(({ id }) => id)),
    )
    .toArray()
  for (const { id } of gone) forgetWebhook(sql, id)
}

/** One courier for each enabled webhook, apart from the others: a receiver that hangs holds up nobody else. */
export class WebhookWorkers {
  readonly #webhooks = new Map<string, Webhook>()
  readonly #under = new Set<string>()
  readonly #called = new Set<string>()
  readonly #context: () => FeedContext | null
  readonly #giveUp: DisableWebhook
  readonly #settled: () => void

  /** `settled` is told whenever a courier has come to rest: what it waits for may have changed. */
  constructor(context: () => FeedContext | null, giveUp: DisableWebhook, settled: () => void) {
    this.#context = context
    this.#giveUp = giveUp
    this.#settled = settled
  }

  /** How many webhooks there are to look after. */
  get size(): number {
    return this.#webhooks.size
  }

  /** Holds still while the account is disabled; nothing is forgotten. */
  pause(): void {
    this.#webhooks.clear()
  }

  /** The webhooks as they stand now: whoever has something to bring sets out. */
  update(sql: SqlStorage, webhooks: Webhook[], head: number, now: number): void {
    this.#webhooks.clear()
    for (const webhook of webhooks) {
      if (webhook.enabled) this.#webhooks.set(webhook.id, webhook)
      else abandonPending(sql, webhook.id)
    }
    forgetOthers(sql, webhooks, now)
    for (const webhook of this.#webhooks.values()) {
      if (
        readWorkerState(sql, webhook).cursor < head ||
        (pendingDelivery(sql, webhook.id)?.nextAttempt ?? now + 1) <= now
      )
        this.#call(webhook.id)
    }
  }

  drop(id: string): void {
    this.#webhooks.delete(id)
  }

  /** A call that comes while the courier is out makes it look once more before it rests. */
  #call(id: string): void {
    this.#called.add(id)
    if (this.#under.has(id)) return
    this.#under.add(id)
    void this.#run(id).finally(() => {
      this.#under.delete(id)
      this.#settled()
    })
  }

  async #run(id: string): Promise<void> {
    const context = this.#context()
    if (!context) return
    try {
      while (this.#called.delete(id)) {
        const next = () => deliverNext(context, () => this.#webhooks.get(id), this.#giveUp)
        for (let pause = await next(); pause !== null; pause = await next())
          await scheduler.wait(pause)
      }
    } catch (error) {
      logFailure('webhook-worker-failed', error, { webhook: id })
    }
  }
}
