import { nextAttemptTime, retryDelayMs } from '../../domain/message/messageRetry.ts'
import { log } from '../../log.ts'
import type { SendOutcome } from '../../notify/provider.ts'
import type { Decision } from '../decision.ts'
import type { MessageRow } from '../tables.ts'
import { findMessage } from './messageQueue.ts'
import { changeMessage, failMessage } from './messageState.ts'

export interface Attempt {
  /** The message as it was claimed for this attempt. */
  message: MessageRow
  provider: string
  outcome: SendOutcome
}

/** Records what an attempt leads to: sent, failed, or the time of the next attempt. */
export const recordOutcome = (tx: Decision, attempt: Attempt): void => {
  const { message: claimed, provider, outcome } = attempt
  const message = findMessage(tx.sql, claimed.id)
  // Deleted with its device, resent, or settled by a receipt that overtook the reply.
  if (!message || message.key !== claimed.key || message.status !== 'queued') return
  if (outcome.kind === 'accepted') {
    const { unsureSince } = message
    const sent = { status: 'sent', reason: null, provider, nextTry: null, unsureSince } as const
    changeMessage(tx, message, sent)
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
  else changeMessage(tx, message, { status: 'queued', reason, provider, nextTry, unsureSince })
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
