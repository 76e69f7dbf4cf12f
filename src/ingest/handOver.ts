import { retryTransient } from '../db/transient.ts'
import { MAX_RAISES_PER_CALL, type PendingRaise } from '../domain/message/pendingRaise.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { logFailure } from '../log.ts'
import type { ServiceContext } from '../serviceContext.ts'

/** Hands stored alerts to the ledger, and returns the id of the first that it has raised. */
const raisePending = async (
  { env, accountId }: ServiceContext,
  raises: PendingRaise[],
): Promise<string | null> => {
  let first: string | null = null
  for (let at = 0; at < raises.length; at += MAX_RAISES_PER_CALL) {
    const some = raises.slice(at, at + MAX_RAISES_PER_CALL)
    const decided = await retryTransient(() => ledgerOf(env, accountId).raisePendingAlerts(some))
    const { outcomes } = requireOk(decided)
    first ??= outcomes.find((outcome) => outcome.ok)?.alertId ?? null
  }
  return first
}

/**
 * Before the reply. After a failure the reply is 503, and a repeat of the report or the sweep hands
 * them over again.
 */
export const handOverRaises = (
  context: ServiceContext,
  raises: PendingRaise[],
): Promise<string | null> =>
  raisePending(context, raises).catch((error) => {
    if (error instanceof Problem) throw error
    logFailure('raise-failed', error, { requestId: context.requestId })
    throw new Problem('unavailable')
  })

/** Hands over what rules have found, after the reply. After a failure or a crash the sweep does. */
export const handOverLater = (context: ServiceContext, hits: PendingRaise[]): void => {
  if (hits.length === 0) return
  const handedOver = raisePending(context, hits).catch((error) =>
    logFailure('raise-failed', error, { requestId: context.requestId }),
  )
  context.waitUntil(handedOver)
}
