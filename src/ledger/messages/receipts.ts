import { hasRow, insertRow } from '../../db/objectTable.ts'
import type { Receipt } from '../../notify/provider.ts'
import type { Decision } from '../decision.ts'
import { receipts } from '../tables.ts'
import { findMessage } from './messageQueue.ts'
import { changeMessage } from './messageState.ts'

/**
 * Applies what a provider reports about a message. It also settles an attempt of unknown outcome.
 * Changes nothing for a repeat, for a message that is no longer known, and for an earlier key: the
 * message has been resent since. A refusal would only make the provider try again.
 */
export const applyReceipt = (tx: Decision, receipt: Receipt): void => {
  const { key, status, reason, mark } = receipt
  const message = findMessage(tx.sql, key.split('-', 1)[0] ?? '')
  if (!message || message.key !== key || message.attempts === 0) return
  const handled = { messageId: message.id, mark }
  if (hasRow(tx.sql, receipts, handled)) return
  insertRow(tx.sql, receipts, handled)
  const isOpen = message.status === 'queued' || (message.status === 'sent' && status !== 'sent')
  const isLateSuccess =
    message.status === 'failed' && message.unsureSince !== null && status === 'delivered'
  if (status === null || !(isOpen || isLateSuccess)) return
  const unsureSince = message.unsureSince ?? message.accepted
  const { provider } = message
  changeMessage(tx, message, { status, reason, provider, nextTry: null, unsureSince })
}
