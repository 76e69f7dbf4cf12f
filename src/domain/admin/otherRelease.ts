import { type Account, NO_LIMITS } from '../account/account.ts'

/*
 * For minutes after a deploy, Workers meet objects of the release before, and objects its Workers.
 * That release knows of an account only whether it is `disabled`.
 */

interface OfEarlierRelease {
  disabled?: boolean
}

/** Whether an object of the release before has said this. */
export const isOfEarlierRelease = (account: Partial<Account>): boolean =>
  account.status === undefined

export const completeAccount = ({ disabled, ...account }: Account & OfEarlierRelease): Account => ({
  ...account,
  status: account.status ?? (disabled ? 'disabled' : 'active'),
  statusMessage: account.statusMessage ?? '',
  deletedAt: account.deletedAt ?? null,
  supportMayWrite: account.supportMayWrite ?? false,
  budgets: { ...NO_LIMITS, ...account.budgets },
})

/** For Workers of both releases: the earlier one refuses limits that it does not know. */
export const forBothReleases = (account: Account): Account & OfEarlierRelease => {
  const { requestsPerMinute, maxRetentionDays, maxZones, ...budgets } = account.budgets
  const limits = Object.entries({ requestsPerMinute, maxRetentionDays, maxZones })
  const set = Object.fromEntries(limits.filter(([, value]) => value !== null))
  const disabled = account.status === 'disabled'
  return { ...account, disabled, budgets: { ...budgets, ...set } as Account['budgets'] }
}

/** A change as a Worker of the release before sends it: without the limits that are new. */
export const completeChange = (
  { status, budgets }: Account,
  { disabled, ...change }: Partial<Account> & OfEarlierRelease,
): Partial<Account> => ({
  ...change,
  ...(disabled !== undefined &&
    disabled !== (status === 'disabled') && { status: disabled ? 'disabled' : 'active' }),
  ...(change.budgets && { budgets: { ...budgets, ...change.budgets } }),
})

/** What an object of the release before would not keep. */
export const newMembers = ({ status, statusMessage, supportMayWrite, budgets }: Account) => ({
  status,
  statusMessage,
  supportMayWrite,
  requestsPerMinute: budgets.requestsPerMinute,
  maxRetentionDays: budgets.maxRetentionDays,
  maxZones: budgets.maxZones,
})
