import type { Account } from '../domain/account.ts'
import { iso } from '../domain/iso.ts'
import { available } from '../domain/license.ts'

export const presentAccount = (account: Omit<Account, 'number' | 'day' | 'version'>) => {
  const { id, userName, name, timeZone, total, used, retentionDays } = account
  return {
    id,
    userName,
    name,
    timeZone,
    licenses: { total, used, available: available({ total, used }) },
    retentionDays,
    creation: iso(account.creation),
    lastModified: iso(account.lastModified),
  }
}
