import type { Account } from '../domain/account.ts'
import type { Receipt } from '../notify/provider.ts'
import { changeMessage, findMessage } from './messages.ts'

export type ReceiptOutcome = { ok: true } | { ok: false; refusal: 'not-found' | 'receipt-replayed' }

/**
 * What a provider says became of a message. Its word also settles a try whose answer we never got. A receipt of an earlier
 * round says nothing about the one that someone asked for since.
 */
export const applyReceipt = (
  sql: SqlStorage,
  account: Account,
  receipt: Receipt,
  now: number,
): ReceiptOutcome => {
  const { key, status, reason, mark } = receipt
  const message = findMessage(sql, key.split('-', 1)[0] ?? '')
  if (!message || message.key !== key || message.attempts === 0)
    return { ok: false, refusal: 'not-found' }
  const fresh = sql.exec(
    'INSERT INTO receipts (message_id, mark) VALUES (?, ?) ON CONFLICT DO NOTHING RETURNING mark',
    message.id,
    mark,
  )
  if (fresh.toArray().length === 0) return { ok: false, refusal: 'receipt-replayed' }
  const open = message.status === 'queued' || (message.status === 'sent' && status !== 'sent')
  const late =
    message.status === 'failed' && message.unsure_since !== null && status === 'delivered'
  if (status === null || !(open || late)) return { ok: true }
  const unsureSince = message.unsure_since ?? message.accepted
  changeMessage(
    sql,
    account,
    message,
    { status, reason, provider: message.provider, nextTry: null, unsureSince },
    now,
  )
  return { ok: true }
}
