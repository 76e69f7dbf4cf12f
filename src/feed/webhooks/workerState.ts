import { findRow, insertRow, query, selectRows, updateRows } from '../../db/objectTable.ts'
import type { Webhook } from '../../domain/event/webhook.ts'
import { webhookWorkers } from '../tables.ts'
import { abandonPending } from './deliveries.ts'

/**
 * Brings a worker's row in line with its webhook and reads it. A webhook that was enabled again
 * starts after `since`: its pending deliveries from before are abandoned.
 */
export const syncWorkerState = (sql: SqlStorage, webhook: Webhook) => {
  const { id: webhookId, since, url } = webhook
  const before = findRow(sql, webhookWorkers, { webhookId })
  if (before?.since === since && before.url === url) return before
  abandonPending(sql, webhookId, since)
  const cursor = Math.max(before?.cursor ?? since, since)
  const state = { webhookId, cursor, since, url, failingSince: null }
  insertRow(sql, webhookWorkers, state, 'replace')
  return state
}

export const advanceCursor = (sql: SqlStorage, { id }: Webhook, cursor: number): void => {
  const isBehind = query`${webhookWorkers.webhookId} = ${id} AND ${webhookWorkers.cursor} < ${cursor}`
  updateRows(sql, webhookWorkers, { cursor }, isBehind)
}

export const saveFailingSince = (
  sql: SqlStorage,
  { id }: Webhook,
  failingSince: number | null,
): void => updateRows(sql, webhookWorkers, { failingSince }, { webhookId: id })

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
  return failing.flatMap(({ webhookId: id, failingSince }) =>
    failingSince !== null && enabled.has(id) ? [{ id, since: failingSince }] : [],
  )
}
