import { retryTransient } from '../db/transient.ts'
import type { Account } from '../domain/account/account.ts'
import { completeAccount, isOfEarlierRelease, newMembers } from '../domain/admin/otherRelease.ts'
import { sameJson } from '../domain/text/json.ts'
import type { Env } from '../env.ts'
import { notUpgraded, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'

/** What a ledger says of its account, whichever release it runs. */
export const completeOutcome = <Outcome extends { ok: true; account: Account } | { ok: false }>(
  outcome: Outcome,
): Outcome => (outcome.ok ? { ...outcome, account: completeAccount(outcome.account) } : outcome)

/** `isBehind`: the ledger still runs the release before. */
export const readLedgerAccount = async (env: Env, accountId: string) => {
  const found = requireOk(await retryTransient(() => ledgerOf(env, accountId).readAccount()))
  const account = completeAccount(found.account)
  return { ...found, account, isBehind: isOfEarlierRelease(found.account) }
}

/** Refuses to change what a ledger that is behind would not keep. */
export const requireKeeping = (
  isBehind: boolean,
  before: Account,
  change: Partial<Account>,
): void => {
  if (isBehind && !sameJson(newMembers(before), newMembers({ ...before, ...change })))
    throw notUpgraded()
}
