import { and, eq, lt } from 'drizzle-orm'
import type { Webhook } from '../../domain/event/webhook.ts'
import { type FeedDatabase, webhookWorkers } from '../tables.ts'
import { abandonPending } from './deliveries.ts'

export type WorkerState = typeof webhookWorkers.$inferSelect

const isOf = ({ id }: Webhook) => eq(webhookWorkers.webhookId, id)

/**
 * Brings a worker's row in line with its webhook and reads it. A webhook that was enabled again
 * starts after `since`: its pending deliveries from before are abandoned.
 */
export const syncWorkerState = (db: FeedDatabase, webhook: Webhook): WorkerState => {
  const { id: webhookId, since, url } = webhook
  const state = db.select().from(webhookWorkers).where(isOf(webhook)).get()
  if (state?.since === since && state.url === url) return state
  abandonPending(db, webhookId, since)
  const cursor = Math.max(state?.cursor ?? since, since)
  return db
    .insert(webhookWorkers)
    .values({ webhookId, cursor, since, url })
    .onConflictDoUpdate({
      target: webhookWorkers.webhookId,
      set: { cursor, since, url, failingSince: null },
    })
    .returning()
    .get()
}

export const advanceCursor = (db: FeedDatabase, webhook: Webhook, cursor: number): void => {
  db.update(webhookWorkers)
    .set({ cursor })
    .where(and(isOf(webhook), lt(webhookWorkers.cursor, cursor)))
    .run()
}

export const saveFailingSince = (
  db: FeedDatabase,
  webhook: Webhook,
  failingSince: number | null,
): void => {
  db.update(webhookWorkers).set({ failingSince }).where(isOf(webhook)).run()
}
