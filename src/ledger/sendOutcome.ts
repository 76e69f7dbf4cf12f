import { backoff, nextTry } from '../domain/messageRetry.ts'
import { log } from '../log.ts'
import type { SendOutcome } from '../notify/provider.ts'
import { advanceToToday, readAccount } from './books.ts'
import { changeMessage, failMessage, findMessage, type MessageRow } from './messages.ts'

/** What follows from a try: sent, failed for good, or when to try again. Synchronous, inside the caller's transaction. */
export const recordOutcome = (
  sql: SqlStorage,
  tried: MessageRow,
  outcome: SendOutcome,
  provider: string,
  now: number,
): void => {
  const account = readAccount(sql)
  const message = findMessage(sql, tried.id)
  // Gone with its device, or settled by a receipt that was quicker than the answer.
  if (!account || !message || message.key !== tried.key || message.status !== 'queued') return
  advanceToToday(sql, account, now)
  if (outcome.kind === 'accepted') {
    changeMessage(
      sql,
      account,
      message,
      { status: 'sent', reason: null, provider, nextTry: null, unsureSince: message.unsure_since },
      now,
    )
    return
  }
  const { reason } = outcome
  const unsureSince =
    outcome.kind === 'retry' && outcome.maybeAccepted ? message.unsure_since : tried.unsure_since
  const after = outcome.kind === 'throttled' ? outcome.after : 0
  const delay = backoff(message.attempts, message.urgent === 1, Math.random())
  const next = outcome.kind === 'refused' ? null : nextTry(message.accepted, now, delay, after)
  if (next === null) failMessage(sql, account, message, { reason, provider, unsureSince }, now)
  else
    changeMessage(
      sql,
      account,
      message,
      { status: 'queued', reason, provider, nextTry: next, unsureSince },
      now,
    )
}

/** Neither the recipient nor the words: who runs the service sees that something goes wrong, not whom it concerns. */
export const logOutcome = (
  accountId: string,
  { id, channel, attempts }: MessageRow,
  outcome: SendOutcome,
  provider: string,
): void => {
  if (outcome.kind === 'accepted') return
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
