import { openCell } from '../../db/open.ts'
import type { DisabledReason } from '../../domain/event/webhook.ts'
import { repeatableIds } from '../../ids.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { logFailure } from '../../log.ts'
import { readAdministrators } from '../../users/store.ts'
import { findWebhook } from '../../webhooks/store.ts'
import type { FeedContext } from './webhookWorker.ts'

/* Has the ledger e-mail the account's administrators when the feed has disabled a webhook. */

interface Row extends Record<string, SqlStorageValue> {
  webhook_id: string
  creation: number
  reason: DisabledReason
}

/** Longer than disabling takes: an earlier check could find the webhook still enabled. */
const CHECK_AFTER_MS = 60_000

/**
 * Records the intent before disabling. Sent once the disable commits; after a crash, checked again
 * after 60 s.
 */
export const recordDisableIntent = (
  sql: SqlStorage,
  webhookId: string,
  reason: DisabledReason,
  now: number,
): void => {
  sql.exec(
    `INSERT INTO disable_notices (webhook_id, creation, reason, due) VALUES (?, ?, ?, ?)
     ON CONFLICT DO NOTHING`,
    webhookId,
    now,
    reason,
    now + CHECK_AFTER_MS,
  )
}

const setDue = (sql: SqlStorage, webhookId: string, creation: number, due: number): void => {
  sql.exec(
    'UPDATE disable_notices SET due = ? WHERE webhook_id = ? AND creation = ?',
    due,
    webhookId,
    creation,
  )
}

/** Makes the notice due now: the disable whose intent was recorded at `creation` has committed. */
export const confirmDisabled = (sql: SqlStorage, webhookId: string, creation: number): void =>
  setDue(sql, webhookId, creation, creation)

export const nextDisableNotice = (sql: SqlStorage): number | null =>
  sql.exec<{ at: number | null }>('SELECT min(due) AS at FROM disable_notices').one().at

/** Does nothing if the webhook was not disabled after all, or has been enabled again. */
const requestNotice = async (
  { env, owner: { accountId, cell } }: FeedContext,
  { webhook_id: webhookId, creation, reason }: Row,
  now: number,
): Promise<void> => {
  const db = openCell(env, cell)
  const webhook = await findWebhook(db, accountId, webhookId)
  if (webhook?.disabledReason !== reason) return
  const administrators = await readAdministrators(db, accountId, now)
  const id = await repeatableIds(creation, webhookId)('ntc')
  await ledgerOf(env, accountId).sendNotice({
    id,
    content: { kind: 'webhook-disabled', webhookId, url: webhook.url, reason },
    recipients: administrators.map(({ email, timeZone }) => ({
      channel: 'Email',
      to: email,
      timeZone,
    })),
    isUrgent: false,
  })
}

/** Requests the notices that are due. A failed request is repeated; the ledger sends each once. */
export const sendDisableNotices = async (context: FeedContext, now: number): Promise<void> => {
  const { sql } = context.storage
  const due = sql.exec<Row>('SELECT * FROM disable_notices WHERE due <= ?', now).toArray()
  for (const { webhook_id: webhookId, creation } of due)
    setDue(sql, webhookId, creation, now + CHECK_AFTER_MS)
  for (const notice of due) {
    const { webhook_id: webhookId, creation } = notice
    try {
      await requestNotice(context, notice, now)
      sql.exec(
        'DELETE FROM disable_notices WHERE webhook_id = ? AND creation = ?',
        webhookId,
        creation,
      )
    } catch (error) {
      logFailure('disable-notice-failed', error, { webhook: webhookId })
    }
  }
}
