import { openDirectory, withRetries } from '../db/open.ts'
import { retryTransient } from '../db/transient.ts'
import type { Account } from '../domain/account/account.ts'
import type { Context } from '../http/context.ts'
import { Problem, requireOk } from '../http/contract/problem.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { findInDirectory } from './store.ts'

/** The account in the path, deleted or not. */
export const readRequested = async (c: Context) => {
  const id = c.req.param('accountId') ?? ''
  const directory = withRetries(openDirectory(c.env))
  if (!(await findInDirectory(directory, id))) throw new Problem('account-not-found')
  return requireOk(await retryTransient(() => ledgerOf(c.env, id).readAccount()))
}

export const findRequested = async (c: Context): Promise<Account> =>
  (await readRequested(c)).account
