import { and, eq, lte, min } from 'drizzle-orm'
import { openCell } from '../../db/open.ts'
import type { DisabledReason } from '../../domain/event/webhook.ts'
import { repeatableIds } from '../../ids.ts'
import { ledgerOf } from '../../ledger/stub.ts'
import { logFailure } from '../../log.ts'
import { readAdministrators } from '../../users/store.ts'
import { findWebhook } from '../../webhooks/store.ts'
import { disableNotices, type FeedDatabase } from '../tables.ts'
import type { FeedContext } from './webhookWorker.ts'

/* Has the ledger e-mail the account's administrators when the feed has disabled a webhook. */

type Notice = typeof disableNotices.$inferSelect
type NoticeId = Pick<Notice, 'webhookId' | 'creation'>

const isNotice = ({ webhookId, creation }: NoticeId) =>
  and(eq(disableNotices.webhookId, webhookId), eq(disableNotices.creation, creation))

/** Longer than disabling takes: an earlier check could find the webhook still enabled. */
const CHECK_AFTER_MS = 60_000

/**
 * Records the intent before disabling. Sent once the disable commits; after a crash, checked again
 * after 60 s.
 */
export const recordDisableIntent = (
  db: FeedDatabase,
  webhookId: string,
  reason: DisabledReason,
  now: number,
): void => {
  db.insert(disableNotices)
    .values({ webhookId, creation: now, reason, due: now + CHECK_AFTER_MS })
    .onConflictDoNothing()
    .run()
}

const setDue = (db: FeedDatabase, notice: NoticeId, due: number): void => {
  db.update(disableNotices).set({ due }).where(isNotice(notice)).run()
}

/** Makes the notice due now: the disable whose intent was recorded at `creation` has committed. */
export const confirmDisabled = (db: FeedDatabase, webhookId: string, creation: number): void =>
  setDue(db, { webhookId, creation }, creation)

export const nextDisableNotice = (db: FeedDatabase): number | null =>
  db
    .select({ at: min(disableNotices.due) })
    .from(disableNotices)
    .get()?.at ?? null

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
  const { db } = context
  const due = db.select().from(disableNotices).where(lte(disableNotices.due, now)).all()
  for (const notice of due) setDue(db, notice, now + CHECK_AFTER_MS)
  for (const notice of due) {
    try {
      await requestNotice(context, notice, now)
      db.delete(disableNotices).where(isNotice(notice)).run()
    } catch (error) {
      logFailure('disable-notice-failed', error, { webhook: notice.webhookId })
    }
  }
}
