import { type Database, openCell } from '../db/open.ts'
import { nextAttemptTime, retryDelayMs } from '../domain/messageRetry.ts'
import { type DisabledReason, noticeKey, noticeTime, type Webhook } from '../domain/webhook.ts'
import type { Env } from '../env.ts'
import { repeatableIds } from '../ids.ts'
import { keepNotice, type Notice, settleNotice } from '../messages/store.ts'
import type { Receipt, SendOutcome } from '../notify/provider.ts'
import { providerFor } from '../notify/providers.ts'
import { readAdministrators } from '../users/store.ts'
import { findWebhook } from '../webhooks/store.ts'
import type { FeedOwner } from './stub.ts'

/* Tells the account's administrators, by e-mail, of a webhook that was given up. Noted before it is done, so that no crash swallows it. */

interface Row extends Record<string, SqlStorageValue> {
  webhook_id: string
  reason: DisabledReason
  creation: number
  attempts: number
  /** Who has been told already. */
  told: string
}

/** Longer than the disabling can be under way: a look meanwhile would find the webhook enabled, and nothing to tell. */
const DISABLED_WITHIN = 60_000

/** What is about to be: it is told once it is known to be so or, where a crash or a failure came between, when it must be if it ever is. */
export const noteDisabled = (
  sql: SqlStorage,
  { id }: Pick<Webhook, 'id'>,
  reason: DisabledReason,
  now: number,
): void => {
  sql.exec(
    'INSERT INTO notices (webhook_id, reason, creation, next_attempt) VALUES (?, ?, ?, ?) ON CONFLICT DO NOTHING',
    id,
    reason,
    now,
    now + DISABLED_WITHIN,
  )
}

/** The webhook of the note made at `creation` is disabled. */
export const tellDisabled = (
  sql: SqlStorage,
  { id }: Pick<Webhook, 'id'>,
  creation: number,
): void => {
  sql.exec(
    'UPDATE notices SET next_attempt = creation WHERE webhook_id = ? AND creation = ?',
    id,
    creation,
  )
}

export const nextNotice = (sql: SqlStorage): number | null =>
  sql.exec<{ at: number | null }>('SELECT min(next_attempt) AS at FROM notices').one().at

const WHY: Record<DisabledReason, string> = {
  gone: 'its receiver answered 410 Gone',
  failing: 'its receiver has failed for five days',
}

const words = ({ id, url }: Webhook, reason: DisabledReason) => {
  const { host, pathname } = new URL(url)
  return {
    subject: `Webhook disabled: ${host}`,
    text: `The webhook ${id} to ${host}${pathname} was disabled, because ${WHY[reason]}.\n\nEvents are kept for 30 days: GET /api/events lists what it has missed. To have events brought again, mend the receiver and set "enabled" to true.`,
  }
}

const became = (outcome: SendOutcome): Pick<Notice, 'status' | 'reason'> =>
  outcome.kind === 'accepted'
    ? { status: 'sent', reason: null }
    : { status: 'failed', reason: outcome.reason }

/** The message that the e-mail with this key is among the account's messages. */
const messageOf = (key: string): Promise<string> => repeatableIds(noticeTime(key) ?? 0, key)('msg')

/** True once everyone is told, or will not be by trying again. What became of each e-mail is kept among the account's messages. */
const tell = async (
  env: Env,
  owner: FeedOwner,
  sql: SqlStorage,
  notice: Row,
  last: boolean,
  now: number,
): Promise<boolean> => {
  const { accountId, cell } = owner
  const db = openCell(env, cell)
  const webhook = await findWebhook(db, accountId, notice.webhook_id)
  if (webhook?.disabledReason !== notice.reason) return true
  const provider = providerFor(env, 'Email')
  const told = new Set(JSON.parse(notice.told) as string[])
  let done = true
  for (const { id, email: to } of await readAdministrators(db, accountId, now)) {
    if (told.has(id)) continue
    const key = noticeKey(notice.webhook_id, notice.creation, id)
    const unsureSince = notice.attempts > 0 ? notice.creation : null
    const mail = { to, ...words(webhook, notice.reason) }
    const outcome = await provider.send(env, { key, accountId, ...mail, unsureSince })
    if (outcome.kind !== 'accepted' && outcome.kind !== 'refused' && !last) {
      done = false
      continue
    }
    const kept = {
      id: await messageOf(key),
      ...mail,
      ...became(outcome),
      provider: provider.name,
      attempts: notice.attempts + 1,
    }
    await keepNotice(db, accountId, kept, now)
    told.add(id)
    sql.exec(
      'UPDATE notices SET told = ? WHERE webhook_id = ? AND creation = ?',
      JSON.stringify([...told]),
      notice.webhook_id,
      notice.creation,
    )
  }
  return done
}

export const sendNotices = async (
  env: Env,
  owner: FeedOwner,
  sql: SqlStorage,
  now: number,
): Promise<void> => {
  for (const notice of sql
    .exec<Row>('SELECT * FROM notices WHERE next_attempt <= ?', now)
    .toArray()) {
    const { webhook_id: id, creation } = notice
    const attempts = notice.attempts + 1
    const again = nextAttemptTime(creation, now, retryDelayMs(attempts, false, Math.random()))
    sql.exec(
      'UPDATE notices SET attempts = ?, next_attempt = ? WHERE webhook_id = ? AND creation = ?',
      attempts,
      again ?? now,
      id,
      creation,
    )
    const done = await tell(env, owner, sql, notice, again === null, now).catch(() => false)
    if (done || again === null)
      sql.exec('DELETE FROM notices WHERE webhook_id = ? AND creation = ?', id, creation)
  }
}

export type NoticeReceipt = { ok: true } | { ok: false; refusal: 'not-found' | 'receipt-replayed' }

/** What a provider says became of such an e-mail. Delivered and failed are final, so a second word to the same effect is a replay. */
export const settle = async (
  db: Database,
  accountId: string,
  receipt: Receipt,
  now: number,
): Promise<NoticeReceipt> => {
  const { key, status, reason } = receipt
  const final = status === 'sent' ? null : status
  const before = await settleNotice(db, accountId, await messageOf(key), final, reason, now)
  if (before === null) return { ok: false, refusal: 'not-found' }
  return before === final ? { ok: false, refusal: 'receipt-replayed' } : { ok: true }
}
