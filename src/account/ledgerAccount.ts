import { retryTransient } from '../db/transient.ts'
import type { Account } from '../domain/account/account.ts'
import { completeAccount } from '../domain/admin/otherRelease.ts'
import type { Env } from '../env.ts'
import { requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'

/** What a ledger says of its account, whichever release it runs. */
export const completeOutcome = <Outcome extends { ok: true; account: Account } | { ok: false }>(
  outcome: Outcome,
): Outcome => (outcome.ok ? { ...outcome, account: completeAccount(outcome.account) } : outcome)

export const readLedgerAccount = async (env: Env, accountId: string) =>
  requireOk(completeOutcome(await retryTransient(() => ledgerOf(env, accountId).readAccount())))
