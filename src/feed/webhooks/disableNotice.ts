import {
  deleteRows,
  insertRow,
  query,
  readValue,
  selectRows,
  updateRows,
} from '../../db/objectTable.ts'
import { type Database, openCell } from '../../db/open.ts'
import type { DisabledReason, Webhook } from '../../domain/event/webhook.ts'
import { repeatableIds } from '../../ids.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { logFailure } from '../../log.ts'
import { readAdministrators } from '../../users/store.ts'
import { disableWebhook, findWebhook } from '../../webhooks/store.ts'
import { disableNotices } from '../tables.ts'
import type { FeedContext } from './webhookWorker.ts'

/* Has the ledger e-mail the account's administrators when the feed has disabled a webhook. */

type Notice = typeof disableNotices.$inferSelect

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
  const notice = { webhookId, creation: now, reason, due: now + CHECK_AFTER_MS }
  insertRow(sql, disableNotices, notice, 'ignore')
}

/** Makes the notice due now: the disable whose intent was recorded at `creation` has committed. */
export const confirmDisabled = (sql: SqlStorage, webhookId: string, creation: number): void =>
  updateRows(sql, disableNotices, { due: creation }, { webhookId, creation })

interface Disabling {
  accountId: string
  webhook: Webhook
  reason: DisabledReason
  now: number
}

/** Disables a webhook in the cell, and has its notice sent. */
export const disableOnce = async (
  sql: SqlStorage,
  db: Database,
  { accountId, webhook, reason, now }: Disabling,
): Promise<void> => {
  recordDisableIntent(sql, webhook.id, reason, now)
  await disableWebhook(db, accountId, webhook, { reason, now })
  confirmDisabled(sql, webhook.id, now)
}

export const nextDisableNotice = (sql: SqlStorage): number | null =>
  readValue(sql, query`SELECT min(${disableNotices.due}) FROM ${disableNotices}`)

/** Does nothing if the webhook was not disabled after all, or has been enabled again. */
const requestNotice = async (
  { env, owner: { accountId, cell } }: FeedContext,
  { webhookId, creation, reason }: Notice,
  now: number,
): Promise<void> => {
  const cellDb = openCell(env, cell)
  const webhook = await findWebhook(cellDb, accountId, webhookId)
  if (webhook?.disabledReason !== reason) return
  const administrators = await readAdministrators(cellDb, accountId, now)
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
  const isDue = query`${disableNotices.due} <= ${now}`
  const due = selectRows(sql, disableNotices, isDue)
  updateRows(sql, disableNotices, { due: now + CHECK_AFTER_MS }, isDue)
  for (const notice of due) {
    try {
      await requestNotice(context, notice, now)
      const { webhookId, creation } = notice
      deleteRows(sql, disableNotices, { webhookId, creation })
    } catch (error) {
      logFailure('disable-notice-failed', error, { webhook: notice.webhookId })
    }
  }
}
