import { type BudgetContext, presentAccount } from '../account/present.ts'
import type { Account } from '../domain/account/account.ts'

type Shown = Parameters<typeof presentAccount>[0] & Pick<Account, 'disabled' | 'cell'>

export const presentOperatedAccount = (account: Shown, context: BudgetContext) => {
  const { disabled, cell } = account
  return { ...presentAccount(account, context), disabled, cell }
}

/**
 * The account as an operator's patch sees it: `licenses` is the number alone, and a budget that was
 * not set is null.
 */
export const presentEditable = (account: Account, context: BudgetContext) => ({
  ...presentOperatedAccount(account, context),
  licenses: account.total,
  budgets: account.budgets,
})
