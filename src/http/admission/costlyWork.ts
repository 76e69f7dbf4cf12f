import { extraCostOfWork, REQUEST_MS } from '../../domain/account/requestCost.ts'
import type { Context } from '../context.ts'
import { awaitCostlyTurn, endCostlyTurn } from './loadShedding.ts'
import { intakeOf } from './pacing.ts'
import { addExtraCost, COSTLY_SHARE, countExtraCost, networkOfCaller } from './rateLimit.ts'

/*
 * Work of a request that takes much more CPU than an ordinary request. It counts as several requests
 * in the rate limit, and it waits for the account's turn.
 */

/** Whether the caller may only report, as sources do: then its work is the account's intake. */
const isIntake = (c: Context): boolean =>
  c.get('principal')?.scopes.every((scope) => scope === 'ingest') ?? false

/** Whose turn it is: the account's or, before anyone has signed in, that of the caller's network. */
const ownerOf = (c: Context): string => {
  const accountId = c.get('principal')?.accountId
  if (accountId === undefined) return networkOfCaller(c)
  return isIntake(c) ? intakeOf(accountId) : accountId
}

/** Runs work of so many milliseconds of CPU in a turn of its own. Throws a 429 or 503 before it. */
export const runCostlyWork = async <T>(
  c: Context,
  workMs: number,
  work: () => Promise<T>,
): Promise<T> => {
  // An ordinary request waits for nobody.
  if (workMs < REQUEST_MS) return work()
  countExtraCost(c, extraCostOfWork(workMs - REQUEST_MS), isIntake(c) ? 1 : COSTLY_SHARE)
  await awaitCostlyTurn(c.req.raw, ownerOf(c), workMs)
  try {
    return await work()
  } finally {
    endCostlyTurn(c.req.raw)
  }
}

/** Called in such work before a further piece of it: counts it and waits until it may start. */
export const continueCostlyWork = async (c: Context, workMs: number): Promise<void> => {
  addExtraCost(c, extraCostOfWork(workMs))
  await awaitCostlyTurn(c.req.raw, ownerOf(c), workMs)
}
