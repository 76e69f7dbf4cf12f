import type { Account } from '../account/account.ts'

/** For minutes after a deploy, Workers meet objects of the release before, which has no sandboxes. */
export const completeAccount = (account: Account): Account => ({
  ...account,
  sandbox: account.sandbox ?? null,
})
