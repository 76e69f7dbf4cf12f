import type { Receipt } from '../notify/provider.ts'
import type { Decision } from './decision.ts'
import { findMessage } from './messageQueue.ts'
import { changeMessage } from './messageState.ts'

export type ReceiptOutcome =
  | { ok: true }
  | { ok: false; refusal: 'account-not-found' | 'message-not-found' | 'receipt-replayed' }

/**
 * Applies what a provider reports about a message. It also settles an attempt of unknown outcome.
 * A receipt for an earlier key is not found: the message has been resent since.
 */
export const applyReceipt = (tx: Decision, receipt: Receipt): ReceiptOutcome => {
  const { key, status, reason, mark } = receipt
  const message = findMessage(tx.sql, key.split('-', 1)[0] ?? '')
  if (!message || message.key !== key || message.attempts === 0)
    return { ok: false, refusal: 'message-not-found' }
  const inserted = tx.sql.exec(
    `INSERT INTO receipts (message_id, mark) VALUES (?, ?)
     ON CONFLICT DO NOTHING RETURNING mark`,
    message.id,
    mark,
  )
  if (inserted.toArray().length === 0) return { ok: false, refusal: 'receipt-replayed' }
  const isOpen = message.status === 'queued' || (message.status === 'sent' && status !== 'sent')
  const isLateSuccess =
    message.status === 'failed' && message.unsure_since !== null && status === 'delivered'
  if (status === null || !(isOpen || isLateSuccess)) return { ok: true }
  const unsureSince = message.unsure_since ?? message.accepted
  const { provider } = message
  changeMessage(tx, message, { status, reason, provider, nextTry: null, unsureSince })
  return { ok: true }
}
