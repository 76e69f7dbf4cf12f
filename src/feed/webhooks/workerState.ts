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
import type { Webhook } from '../../domain/event/webhook.ts'
import { alertLanesOf, webhookOfLane } from '../../domain/output/output.ts'
import { webhookWorkers } from '../tables.ts'
import type { AttemptResult } from './attempt.ts'
import { abandonPending, moveToWebhook, readPending } from './deliveries.ts'

const lanesOf = (webhookId: string): string[] => [webhookId, ...alertLanesOf(webhookId)]

/** The row of the next lane before this one that has a row. */
const findLaneBefore = (sql: SqlStorage, laneId: string) => {
  const lanes = lanesOf(webhookOfLane(laneId))
  const before = lanes.slice(0, lanes.indexOf(laneId)).reverse()
  const find = (webhookId: string) => findRow(sql, webhookWorkers, { webhookId })
  return before.map(find).find((row) => row !== undefined)
}

/** Undefined once the webhook is deleted or the lane has ended. */
export const readWorkerState = (sql: SqlStorage, { id }: Webhook) =>
  findRow(sql, webhookWorkers, { webhookId: id })

/**
 * Brings a worker's row in line with its webhook and reads it. A webhook that was enabled again
 * starts after `since`: its pending deliveries from before are abandoned. A new lane of alerts
 * starts where its events were sent before: by the lane of all alerts, or in our own format.
 */
export const syncWorkerState = (sql: SqlStorage, webhook: Webhook) => {
  const { id: webhookId, since, url } = webhook
  const before = findRow(sql, webhookWorkers, { webhookId })
  if (before?.since === since && before.url === url) return before
  abandonPending(sql, webhookId, since)
  const start = before ?? findLaneBefore(sql, webhookId)
  const cursor = Math.max(start?.cursor ?? since, since)
  const state = { webhookId, cursor, since, url, failingSince: null, succeededAt: null }
  insertRow(sql, webhookWorkers, state, 'replace')
  return state
}

/**
 * In our own format alerts are in sequence with other events. The webhook goes on where the slowest
 * lane is: some events are sent in both formats, but none is left out.
 */
export const endAlertLanes = (sql: SqlStorage, webhookId: string): void => {
  for (const lane of alertLanesOf(webhookId)) {
    const ended = findRow(sql, webhookWorkers, { webhookId: lane })
    if (!ended) continue
    moveToWebhook(sql, lane)
    deleteRows(sql, webhookWorkers, { webhookId: lane })
    const cursor = query`min(${webhookWorkers.cursor}, ${ended.cursor})`
    updateRows(sql, webhookWorkers, { cursor }, { webhookId })
  }
}

/** Whether some webhook has lanes for alerts. */
export const hasAlertLanes = (sql: SqlStorage): boolean =>
  hasRow(sql, webhookWorkers, query`${webhookWorkers.webhookId} LIKE '%:%'`)

export const advanceCursor = (sql: SqlStorage, { id }: Webhook, cursor: number): void => {
  const isBehind = query`${webhookWorkers.webhookId} = ${id} AND ${webhookWorkers.cursor} < ${cursor}`
  updateRows(sql, webhookWorkers, { cursor }, isBehind)
}

export const saveFailingSince = (
  sql: SqlStorage,
  { id }: Webhook,
  failingSince: number | null,
): void => updateRows(sql, webhookWorkers, { failingSince }, { webhookId: id })

interface Ended {
  result: AttemptResult
  /** After a failure. */
  failingSince: number | null
  now: number
}

/** Without a response nothing was sent: such a success says nothing about the receiver. */
export const recordResult = (
  sql: SqlStorage,
  webhook: Webhook,
  { result, failingSince, now }: Ended,
): void => {
  if (result.failure !== null) saveFailingSince(sql, webhook, failingSince)
  else if (result.responseCode !== null)
    updateRows(
      sql,
      webhookWorkers,
      { failingSince: null, succeededAt: now },
      { webhookId: webhook.id },
    )
}

/** When an attempt of any lane of the webhook last succeeded; 0 for never. */
export const lastSuccessAt = (sql: SqlStorage, { id }: Webhook): number => {
  const lanes = JSON.stringify(lanesOf(webhookOfLane(id)))
  return readValue<number>(
    sql,
    query`SELECT ifnull(max(${webhookWorkers.succeededAt}), 0) FROM ${webhookWorkers}
      WHERE ${webhookWorkers.webhookId} IN (SELECT value FROM json_each(${lanes}))`,
  )
}

/** A webhook that has failed for so long is behind. */
const BEHIND_AFTER_MS = 300_000

/** Those of these webhooks that are behind. */
export const readFailing = (sql: SqlStorage, webhooks: Webhook[], now: number) => {
  const before = now - BEHIND_AFTER_MS
  const failing = selectRows(
    sql,
    webhookWorkers,
    query`${webhookWorkers.failingSince} <= ${before}`,
  )
  const enabled = new Set(webhooks.filter((webhook) => webhook.enabled).map(({ id }) => id))
  const behind = new Map<string, number>()
  for (const { webhookId: lane, failingSince: since } of failing) {
    const id = webhookOfLane(lane)
    const isBehind = enabled.has(id) && readPending(sql, lane).count > 0
    if (since !== null && isBehind) behind.set(id, Math.min(behind.get(id) ?? since, since))
  }
  return [...behind].map(([id, since]) => ({ id, since }))
}
