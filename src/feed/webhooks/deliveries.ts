import {
  deleteRows,
  findRow,
  hasRow,
  insertRow,
  query,
  readValue,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import type { WebhookDelivery } from '../../domain/event/webhook.ts'
import { alertLanesOf, webhookOfLane } from '../../domain/output/output.ts'
import { deliveries } from '../tables.ts'
import type { AttemptResult } from './attempt.ts'

/* Webhook deliveries, in the feed's own SQLite. `nextAttempt` is null once a delivery is final. */

const MAX_KEPT = 1000
const RETENTION_MS = 30 * 86_400_000

const { number, creation, nextAttempt: next } = deliveries
const isOf = (webhookId: string) => query`${deliveries.webhookId} = ${webhookId}`
/** Of the webhook and, if it is an output, of its alerts. */
const isOfLanes = (webhookId: string) =>
  query`${deliveries.webhookId} IN
    (SELECT value FROM json_each(${JSON.stringify([webhookId, ...alertLanesOf(webhookId)])}))`
const isPending = query`${next} IS NOT NULL`

interface NewDelivery extends Pick<WebhookDelivery, 'id' | 'webhookId' | 'sequences'> {
  now: number
}

export const findDelivery = (
  sql: SqlStorage,
  webhookId: string,
  id: string,
): WebhookDelivery | undefined =>
  findRow(sql, deliveries, query`${deliveries.id} = ${id} AND ${isOfLanes(webhookId)}`)

/** A delivery that was just written. */
export const readDelivery = (sql: SqlStorage, webhookId: string, id: string): WebhookDelivery => {
  const delivery = findDelivery(sql, webhookId, id)
  if (!delivery) throw new Error('a delivery that was just written is missing')
  return delivery
}

/** Also deletes the webhook's old deliveries. */
export const insertDelivery = (
  sql: SqlStorage,
  { id, webhookId, sequences, now }: NewDelivery,
): WebhookDelivery => {
  const times = { creation: now, nextAttempt: now }
  insertRow(sql, deliveries, { id, webhookId, sequences, status: 'pending', ...times })
  const lastExcess = query`ifnull((SELECT ${number} FROM ${deliveries} WHERE ${isOf(webhookId)}
    ORDER BY ${number} DESC LIMIT 1 OFFSET ${MAX_KEPT}), 0)`
  const isOld = query`${isOf(webhookId)} AND ${next} IS NULL
    AND (${creation} < ${now - RETENTION_MS} OR ${number} <= ${lastExcess})`
  deleteRows(sql, deliveries, isOld)
  return readDelivery(sql, webhookId, id)
}

/**
 * Whether a delivery must succeed or be abandoned before later events are delivered. One that a broker
 * does not confirm holds back none: its record may be the reason.
 */
export const hasHoldingDelivery = (sql: SqlStorage, webhookId: string): boolean =>
  hasRow(
    sql,
    deliveries,
    query`${isOf(webhookId)} AND ${isPending} AND ${deliveries.failure} IS NOT 'unconfirmed'`,
  )

/** Whether the delivery still exists and is to be attempted again. */
export const isPendingDelivery = (sql: SqlStorage, { id }: WebhookDelivery): boolean =>
  hasRow(sql, deliveries, query`${deliveries.id} = ${id} AND ${isPending}`)

/** The pending delivery whose attempt is due. */
export const dueDelivery = (
  sql: SqlStorage,
  webhookId: string,
  now: number,
): WebhookDelivery | undefined =>
  findRow(
    sql,
    deliveries,
    query`${isOf(webhookId)} AND ${isPending} AND ${next} <= ${now}
      ORDER BY ${next}, ${number} LIMIT 1`,
  )

/** How many deliveries are pending, and when the first of them is due. */
export const readPending = (sql: SqlStorage, webhookId: string) => ({
  count: readValue<number>(
    sql,
    query`SELECT count(*) FROM ${deliveries} WHERE ${isOf(webhookId)} AND ${isPending}`,
  ),
  nextAttempt: readValue<number | null>(
    sql,
    query`SELECT min(${next}) FROM ${deliveries} WHERE ${isOf(webhookId)} AND ${isPending}`,
  ),
})

/** When a delivery was last attempted; 0 for never. Tests do not count. */
export const lastAttemptAt = (sql: SqlStorage, webhookId: string): number =>
  readValue<number>(
    sql,
    query`SELECT ifnull(max(${deliveries.lastAttempt}), 0) FROM ${deliveries}
      WHERE ${isOf(webhookId)} AND ${deliveries.attempts} > ${deliveries.attemptsByHand}`,
  )

/** An alert lane that ends leaves its deliveries to the webhook. */
export const moveToWebhook = (sql: SqlStorage, laneId: string): void =>
  updateRows(sql, deliveries, { webhookId: webhookOfLane(laneId) }, { webhookId: laneId })

/** Newest first, those with a number below `before`. */
export const listDeliveries = (
  sql: SqlStorage,
  webhookId: string,
  before: number,
  limit: number,
): WebhookDelivery[] => {
  const isListed = query`${isOfLanes(webhookId)} AND ${number} < ${before}
    ORDER BY ${number} DESC LIMIT ${limit}`
  return selectRows(sql, deliveries, isListed)
}

/** When the next attempt is due of any webhook but these. */
export const nextAttemptAt = (sql: SqlStorage, except: Iterable<string>): number | null =>
  readValue<number | null>(
    sql,
    query`SELECT min(${next}) FROM ${deliveries} WHERE ${isPending}
      AND ${deliveries.webhookId} NOT IN (SELECT value FROM json_each(${JSON.stringify([...except])}))`,
  )

/**
 * Counts the attempt before the call, so that one interrupted by a crash counts too; it is repeated
 * at `leaseUntil`. Returns the number of scheduled attempts, or null if the delivery is final.
 */
export const beginAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  now: number,
  leaseUntil: number | null,
): number | null => {
  const before = findRow(sql, deliveries, { id })
  if (!before || before.nextAttempt === null) return null
  const attempts = before.attempts + 1
  const noResult = { responseCode: null, failure: null, durationMs: null, answer: null }
  const begun = { attempts, lastAttempt: now, nextAttempt: leaseUntil, ...noResult }
  updateRows(sql, deliveries, begun, { id })
  return attempts - before.attemptsByHand
}

/** Leaves the scheduled attempts as they are. */
export const beginManualAttempt = (sql: SqlStorage, { id }: WebhookDelivery, now: number): void => {
  const attempts = query`${deliveries.attempts} + 1`
  const attemptsByHand = query`${deliveries.attemptsByHand} + 1`
  updateRows(sql, deliveries, { attempts, attemptsByHand, lastAttempt: now }, { id })
}

/**
 * `nextAttempt` is null for a final result. A delivery that succeeded once stays delivered, and one
 * that was abandoned during the call is not retried.
 */
export const endAttempt = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  result: AttemptResult,
  nextAttempt: number | null,
): void => {
  const before = findRow(sql, deliveries, { id })
  if (!before) return
  const isDelivered = result.failure === null
  const retryAt = isDelivered || before.nextAttempt === null ? null : nextAttempt
  const unsettled = retryAt === null ? 'failed' : 'pending'
  const status = isDelivered || before.status === 'delivered' ? 'delivered' : unsettled
  updateRows(sql, deliveries, { ...result, status, nextAttempt: retryAt }, { id })
}

/** A part of a delivery that succeeded once is delivered too. */
export const keepDelivered = (
  sql: SqlStorage,
  { id }: WebhookDelivery,
  { status }: WebhookDelivery,
): void => {
  if (status === 'delivered') updateRows(sql, deliveries, { status }, { id })
}

/** Gives up the pending deliveries whose first event is at most `upTo`. */
export const abandonPending = (
  sql: SqlStorage,
  webhookId: string,
  upTo = Number.MAX_SAFE_INTEGER,
): void =>
  updateRows(
    sql,
    deliveries,
    { status: 'failed', failure: 'disabled', nextAttempt: null },
    query`${isOf(webhookId)} AND ${isPending} AND ${deliveries.sequences} ->> 0 <= ${upTo}`,
  )
