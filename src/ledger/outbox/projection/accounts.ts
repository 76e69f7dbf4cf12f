import { eq, sql } from 'drizzle-orm'
import { insertSelect } from '../../../db/query.ts'
import { accounts, erasures, eventHeads } from '../../../db/schema.ts'
import type { Account } from '../../../domain/account/account.ts'
import { completeAccount } from '../../../domain/admin/otherRelease.ts'
import {
  DEFAULT_EMERGENCY_SETTINGS,
  storeEmergencySettings,
} from '../../../domain/message/emergency.ts'
import { storeMessageOverrides } from '../../../domain/message/messageBudget.ts'
import { storeSandbox } from '../../../domain/sandbox/sandbox.ts'
import type { Write } from '../outbox.ts'
import { type Columns, compileUpsert } from './upsert.ts'

/** Whatever changes rules writes their version, and every effect has a number of its own. */
type AccountColumns = Columns<typeof accounts, 'rulesVersion' | 'seq'>

/** An effect of an earlier release has no sandbox or emergency settings. */
export const toAccountColumns = (posted: Account, nextExpiry: number | null): AccountColumns => {
  const { budgets, ...account } = completeAccount(posted)
  return {
    ...account,
    ...budgets,
    licenses: account.total,
    disabled: account.status === 'disabled',
    messagesPerDay: storeMessageOverrides(budgets.messagesPerDay),
    emergency: storeEmergencySettings({ ...DEFAULT_EMERGENCY_SETTINGS, ...account }),
    sandbox: storeSandbox(account.sandbox),
    sandboxErasesAt: account.sandbox?.erasesAt ?? null,
    nextExpiry,
  }
}

/** While an erasure is pending, a late repeat does not bring the row back. */
const upsertAccount = compileUpsert({
  table: accounts,
  others: ['rulesVersion'],
  key: accounts.id,
  owner: accounts.id,
  seq: accounts.seq,
  unless: sql`EXISTS (SELECT 1 FROM ${erasures}
    WHERE ${erasures.accountId} = ${sql.placeholder('id')}
      AND ${erasures.id} = ${sql.placeholder('id')})`,
})

export const writeAccount: Write<'account'> = (db, _, { account, nextExpiry, seq }) => [
  upsertAccount(db, { ...toAccountColumns(account, nextExpiry), seq }),
]

export const removeAccount: Write<'account-gone'> = (db, accountId, { at }) => [
  db.insert(erasures).values({ id: accountId, accountId, creation: at }).onConflictDoNothing(),
  db.delete(accounts).where(eq(accounts.id, accountId)),
]

/** Moves the account's event numbers ahead, so that a restored cell repeats none. */
export const jumpEvents: Write<'events-jump'> = (_, accountId, { to }) => [
  insertSelect(
    eventHeads,
    { accountId, sequence: to },
    sql`WHERE true ON CONFLICT (account_id)
      DO UPDATE SET sequence = max(sequence, excluded.sequence)`,
  ),
]
