import { findRow, hasRow, insertRow } from '../../db/objectTable.ts'
import { alertIdOf, SERIES, seriesOf } from '../../domain/message/alert.ts'
import { nextAttemptTime, retryDelayMs } from '../../domain/message/messageRetry.ts'
import type { Env } from '../../env.ts'
import { log } from '../../log.ts'
import type { Receipt, SendOutcome } from '../../notify/provider.ts'
import { providerFor } from '../../notify/providers.ts'
import { countAccepted } from '../accounts/usageReport.ts'
import { isDrill } from '../alerts/drills.ts'
import { isOpenEmergency } from '../alerts/emergencies.ts'
import type { Decision } from '../decision.ts'
import { alertStates, type MessageRow, receipts } from '../tables.ts'
import { unitsOf } from './messageBudget.ts'
import { findMessage, readText } from './messageQueue.ts'
import { changeMessage, failMessage, withdrawMessage } from './messageState.ts'

export interface Attempt {
  /** The message as it was claimed for this attempt. */
  message: MessageRow
  provider: string
  /** Whether the provider reports what becomes of it. */
  awaitsReceipt: boolean
  outcome: SendOutcome
}

/**
 * Whether it asks people to handle an emergency that somebody handles, or that is over. What someone
 * resends, under another key, goes out all the same.
 */
export const isObsolete = (sql: SqlStorage, message: MessageRow): boolean => {
  const { id, key, kind, channel } = message
  // Nobody is called about what somebody handles already.
  if (key === id && kind === 'alert' && channel === 'Voice')
    return findRow(sql, alertStates, { alertId: alertIdOf(id) })?.acknowledgedAt != null
  const isUndelivered = kind === 'notice' && seriesOf(id) === SERIES.undelivered
  if (key !== id || (kind !== 'escalation' && !isUndelivered)) return false
  return !isOpenEmergency(sql, alertIdOf(id))
}

/** Counts an accepted message in the account's usage; not those of drills and sandboxes. */
const countUsage = (tx: Decision, { id, channel, text }: MessageRow, provider: string): void => {
  if (tx.account.sandbox || isDrill(tx.sql, alertIdOf(id))) return
  countAccepted(tx, { channel, provider, segments: unitsOf(channel, text) })
}

/** Records what an attempt leads to: sent, failed, or the time of the next attempt. */
export const recordOutcome = (tx: Decision, attempt: Attempt): void => {
  const { message: claimed, provider, awaitsReceipt, outcome } = attempt
  const message = findMessage(tx.sql, claimed.id)
  const isSettled = message?.key === claimed.key && message.status !== 'queued'
  if (outcome.kind === 'accepted' && !isSettled) countUsage(tx, claimed, provider)
  // Deleted with its device, resent, or settled by a receipt that overtook the reply.
  if (!message || message.key !== claimed.key || message.status !== 'queued') return
  if (outcome.kind === 'accepted') {
    const { unsureSince } = message
    const accepted = { providerId: outcome.providerId, awaitsReceipt }
    const sent = { status: 'sent', reason: null, provider, nextTry: null, unsureSince } as const
    changeMessage(tx, message, { ...sent, ...accepted })
    return
  }
  const { reason } = outcome
  const unsureSince =
    outcome.kind === 'retry' && outcome.maybeAccepted ? message.unsureSince : claimed.unsureSince
  const delayMs = retryDelayMs(message.attempts, message.urgent, Math.random())
  const afterMs = outcome.kind === 'throttled' ? outcome.afterMs : 0
  const nextTry =
    outcome.kind === 'refused' ? null : nextAttemptTime(message.accepted, tx.now, delayMs, afterMs)
  if (nextTry === null) failMessage(tx, message, { reason, provider, unsureSince })
  else if (isObsolete(tx.sql, message)) withdrawMessage(tx, message, { provider, unsureSince })
  else changeMessage(tx, message, { status: 'queued', reason, provider, nextTry, unsureSince })
}

/**
 * Applies what a provider reports about a message. It also settles an attempt of unknown outcome.
 * Changes nothing for a repeat, for a message that is no longer known, and for an earlier key: the
 * message has been resent since. A refusal would only make the provider try again. A bounce or a
 * complaint may come after the delivery; what a receipt has failed is not delivered any more. Of a
 * call, a pressed key counts whatever is reported before or after.
 */
export const applyReceipt = (tx: Decision, receipt: Receipt, env: Env): void => {
  const { key, providerId, accepted, status, reason, mark } = receipt
  const message = findMessage(tx.sql, key.split('-', 1)[0] ?? '')
  if (!message || message.attempts === 0) return
  if (providerId === undefined ? message.key !== key : message.providerId !== providerId) return
  const handled = { messageId: message.id, mark }
  if (hasRow(tx.sql, receipts, handled)) return
  insertRow(tx.sql, receipts, handled)
  const isCall = message.channel === 'Voice'
  const isUnsettled =
    message.status === 'queued' ||
    (message.status === 'sent' && status !== 'sent') ||
    (message.status === 'delivered' && status === 'failed' && !isCall)
  const isLateSuccess =
    message.status === 'failed' &&
    status === 'delivered' &&
    (isCall || message.unsureSince !== null)
  if (status === null || !(isUnsettled || isLateSuccess)) return
  const isFirstSign = message.status === 'queued' || (isLateSuccess && !message.awaitsReceipt)
  if (isFirstSign) {
    const sender = accepted?.provider ?? message.provider ?? providerFor(env, message.channel).name
    countUsage(tx, { ...message, ...readText(tx.sql, message) }, sender)
  }
  const unsureSince = status === 'failed' ? null : (message.unsureSince ?? message.accepted)
  const { provider } = message
  const settled = { nextTry: null, unsureSince, awaitsReceipt: true }
  changeMessage(tx, message, { status, reason, provider, ...accepted, ...settled })
}

/** Logs a failed attempt, without the recipient and the text. */
export const logOutcome = (accountId: string, { message, provider, outcome }: Attempt): void => {
  if (outcome.kind === 'accepted') return
  const { id, channel, attempts } = message
  const { kind, reason } = outcome
  log('warn', {
    event: `message-${kind}`,
    account: accountId,
    message: id,
    channel,
    provider,
    attempts,
    reason,
  })
}
