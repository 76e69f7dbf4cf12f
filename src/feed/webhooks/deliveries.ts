import {
  and,
  asc,
  desc,
  eq,
  isNotNull,
  isNull,
  lt,
  min,
  notInArray,
  type SQL,
  sql,
} from 'drizzle-orm'
import type { WebhookDelivery } from '../../domain/event/webhook.ts'
import { deliveries, type FeedDatabase } from '../tables.ts'
import type { AttemptResult } from './attempt.ts'

/* Webhook deliveries, in the feed's own SQLite. `nextAttempt` is null once a delivery is final. */

const MAX_KEPT = 1000
const RETENTION_MS = 30 * 86_400_000

const isOf = (webhookId: string): SQL => eq(deliveries.webhookId, webhookId)
const isPending = isNotNull(deliveries.nextAttempt)

interface NewDelivery extends Pick<WebhookDelivery, 'id' | 'webhookId' | 'sequences'> {
  now: number
}

/** Also deletes the webhook's old deliveries. */
export const insertDelivery = (
  db: FeedDatabase,
  { id, webhookId, sequences, now }: NewDelivery,
): WebhookDelivery => {
  const delivery = db
    .insert(deliveries)
    .values({ id, webhookId, sequences, status: 'pending', creation: now, nextAttempt: now })
    .returning()
    .get()
  const lastExcess = sql`ifnull((SELECT number FROM deliveries WHERE webhook_id = ${webhookId}
    ORDER BY number DESC LIMIT 1 OFFSET ${MAX_KEPT}), 0)`
  const isOld = sql`(${lt(deliveries.creation, now - RETENTION_MS)}
    OR ${deliveries.number} <= ${lastExcess})`
  db.delete(deliveries)
    .where(and(isOf(webhookId), isNull(deliveries.nextAttempt), isOld))
    .run()
  return delivery
}

/** The delivery that must succeed or be abandoned before later events are delivered. */
export const pendingDelivery = (db: FeedDatabase, webhookId: string): WebhookDelivery | null =>
  db
    .select()
    .from(deliveries)
    .where(and(isOf(webhookId), isPending))
    .orderBy(asc(deliveries.number))
    .limit(1)
    .get() ?? null

export const findDelivery = (
  db: FeedDatabase,
  webhookId: string,
  id: string,
): WebhookDelivery | null =>
  db
    .select()
    .from(deliveries)
    .where(and(eq(deliveries.id, id), isOf(webhookId)))
    .get() ?? null

/** Newest first, those with a number below `before`. */
export const listDeliveries = (
  db: FeedDatabase,
  webhookId: string,
  before: number,
  limit: number,
): WebhookDelivery[] =>
  db
    .select()
    .from(deliveries)
    .where(and(isOf(webhookId), lt(deliveries.number, before)))
    .orderBy(desc(deliveries.number))
    .limit(limit)
    .all()

/** When the next attempt is due of any webhook but these. */
export const nextAttemptAt = (db: FeedDatabase, except: Iterable<string>): number | null =>
  db
    .select({ at: min(deliveries.nextAttempt) })
    .from(deliveries)
    .where(and(isPending, notInArray(deliveries.webhookId, [...except])))
    .get()?.at ?? null

/**
 * Counts the attempt before the call, so that one interrupted by a crash counts too; it is repeated
 * at `leaseUntil`. Returns the number of scheduled attempts, or null if the delivery is final.
 */
export const beginAttempt = (
  db: FeedDatabase,
  { id }: WebhookDelivery,
  now: number,
  leaseUntil: number | null,
): number | null => {
  const begun = db
    .update(deliveries)
    .set({
      attempts: sql`${deliveries.attempts} + 1`,
      lastAttempt: now,
      nextAttempt: leaseUntil,
      responseCode: null,
      failure: null,
      durationMs: null,
      answer: null,
    })
    .where(and(eq(deliveries.id, id), isPending))
    .returning({ all: deliveries.attempts, byHand: deliveries.attemptsByHand })
    .get()
  return begun ? begun.all - begun.byHand : null
}

/** Leaves the scheduled attempts as they are. */
export const beginManualAttempt = (
  db: FeedDatabase,
  { id }: WebhookDelivery,
  now: number,
): void => {
  db.update(deliveries)
    .set({
      attempts: sql`${deliveries.attempts} + 1`,
      attemptsByHand: sql`${deliveries.attemptsByHand} + 1`,
      lastAttempt: now,
    })
    .where(eq(deliveries.id, id))
    .run()
}

/**
 * `nextAttempt` is null for a final result. A delivery that succeeded once stays delivered, and one
 * that was abandoned during the call is not retried.
 */
export const endAttempt = (
  db: FeedDatabase,
  { id }: WebhookDelivery,
  result: AttemptResult,
  nextAttempt: number | null,
): void => {
  const isDelivered = result.failure === null
  const retryAt = isDelivered ? null : nextAttempt
  db.update(deliveries)
    .set({
      ...result,
      status: sql`CASE WHEN ${deliveries.status} = 'delivered' OR ${Number(isDelivered)} THEN 'delivered'
        WHEN ${deliveries.nextAttempt} IS NULL OR ${retryAt} IS NULL THEN 'failed'
        ELSE 'pending' END`,
      nextAttempt: sql`CASE WHEN ${deliveries.nextAttempt} IS NOT NULL THEN ${retryAt} END`,
    })
    .where(eq(deliveries.id, id))
    .run()
}

/** Gives up the pending deliveries whose first event is at most `upTo`. */
export const abandonPending = (
  db: FeedDatabase,
  webhookId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): void => {
  db.update(deliveries)
    .set({ status: 'failed', failure: 'disabled', nextAttempt: null })
    .where(and(isOf(webhookId), isPending, sql`${deliveries.sequences} ->> 0 <= ${upTo}`))
    .run()
}
