import { readLedgerAccount } from '../account/ledgerAccount.ts'
import { openDirectory, withRetries } from '../db/open.ts'
import type { Account } from '../domain/account/account.ts'
import type { Context } from '../http/context.ts'
import { Problem } from '../http/contract/problem.ts'
import { findInDirectory } from './store.ts'

/** The account in the path, deleted or not. */
export const readRequested = async (c: Context) => {
  const id = c.req.param('accountId') ?? ''
  const directory = withRetries(openDirectory(c.env))
  if (!(await findInDirectory(directory, id))) throw new Problem('account-not-found')
  return readLedgerAccount(c.env, id)
}

/** Throws a 404 that says what to do: an operator sees deleted accounts. */
export const requireExisting = ({ deletedAt }: Account): void => {
  if (deletedAt === null) return
  throw new Problem('account-not-found', {
    detail: 'The account is deleted: bring it back first (`POST …/undelete`).',
  })
}

export const findRequested = async (c: Context): Promise<Account> =>
  (await readRequested(c)).account
