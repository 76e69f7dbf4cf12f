import { type BudgetContext, presentAccount } from '../account/present.ts'
import type { Account } from '../domain/account/account.ts'
import { UNDELETE_ACCOUNT_DAYS } from '../domain/admin/status.ts'
import { isoOrNull } from '../domain/time/iso.ts'

type Shown = Parameters<typeof presentAccount>[0] & Pick<Account, 'cell'>

const UNDELETE_MS = UNDELETE_ACCOUNT_DAYS * 86_400_000

export const presentOperatedAccount = (account: Shown, context: BudgetContext) => {
  const { status, deletedAt, cell } = account
  return {
    ...presentAccount(account, context),
    disabled: status === 'disabled',
    deletedAt: isoOrNull(deletedAt),
    erasesAt: isoOrNull(deletedAt === null ? null : deletedAt + UNDELETE_MS),
    cell,
  }
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
