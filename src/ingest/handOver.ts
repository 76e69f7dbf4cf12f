import { retryTransient } from '../db/transient.ts'
import { BoundedCache } from '../domain/cache/boundedCache.ts'
import { MAX_RAISES_PER_CALL, type PendingRaise } from '../domain/message/pendingRaise.ts'
import { publicOrigin } from '../env.ts'
import type { Context } from '../http/context.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { logFailure } from '../log.ts'
import type { AssumedState } from './report.ts'

/** Accounts' states as this isolate last saw them. Each report checks what it assumes. */
export const assumedStates = new BoundedCache<AssumedState>(10_000)

/** The service's public origin, for links in messages. */
export const originOf = (c: Context): string => publicOrigin(c.env) ?? new URL(c.req.url).origin

/**
 * Hands a report's alerts to the ledger before the reply, and returns the id of the first one. After
 * a failure the reply is 503, and a repeat of the report or the sweep hands them over again.
 */
export const handOverRaises = async (
  c: Context,
  raises: PendingRaise[],
): Promise<string | null> => {
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  let first: string | null = null
  for (let at = 0; at < raises.length; at += MAX_RAISES_PER_CALL) {
    const some = raises.slice(at, at + MAX_RAISES_PER_CALL)
    const decided = await retryTransient(() => ledger.raisePendingAlerts(some)).catch((error) => {
      logFailure('raise-failed', error, { requestId: c.get('requestId') })
      throw new Problem('unavailable')
    })
    const { outcomes } = requireOk(decided)
    first ??= outcomes.find((outcome) => outcome.ok)?.alertId ?? null
  }
  return first
}

/** Hands over what rules have found. After a failure or a crash the sweep does it. */
const handOverHits = async (c: Context, hits: PendingRaise[]): Promise<void> => {
  const ledger = ledgerOf(c.env, c.get('principal').accountId)
  for (let at = 0; at < hits.length; at += MAX_RAISES_PER_CALL)
    await retryTransient(() => ledger.raisePendingAlerts(hits.slice(at, at + MAX_RAISES_PER_CALL)))
}

/** Hands over what rules have found, after the reply. */
export const handOverLater = (c: Context, hits: PendingRaise[]): void => {
  if (hits.length === 0) return
  c.executionCtx.waitUntil(
    handOverHits(c, hits).catch((error) =>
      logFailure('raise-failed', error, { requestId: c.get('requestId') }),
    ),
  )
}
