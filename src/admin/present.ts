import { presentAccount } from '../account/present.ts'
import type { Account } from '../domain/account.ts'

type Shown = Parameters<typeof presentAccount>[0] & Pick<Account, 'disabled' | 'cell'>

export const presentOperatedAccount = (account: Shown) => {
  const { disabled, cell } = account
  return { ...presentAccount(account), disabled, cell }
}

/** The account as an operator's patch sees it: `licenses` is the number alone. */
export const presentEditable = (account: Account) => ({
  ...presentOperatedAccount(account),
  licenses: account.total,
})
