import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { accounts, erasures, eventHeads } from '../../../db/schema.ts'
import { names, statement } from '../../../db/statement.ts'
import type { Account } from '../../../domain/account/account.ts'
import {
  DEFAULT_EMERGENCY_SETTINGS,
  storeEmergencySettings,
} from '../../../domain/message/emergency.ts'
import type { PostedAs } from '../outbox.ts'
import { type Columns, compileUpsert } from './upsert.ts'

/** Whatever changes rules writes their version, and every effect has a number of its own. */
type AccountColumns = Columns<typeof accounts, 'rulesVersion' | 'seq'>

export const toAccountColumns = (account: Account, nextExpiry: number | null): AccountColumns => ({
  id: account.id,
  number: account.number,
  userName: account.userName,
  name: account.name,
  timeZone: account.timeZone,
  day: account.day,
  licenses: account.total,
  used: account.used,
  disabled: account.disabled,
  retentionDays: account.retentionDays,
  // An effect that was posted before accounts had budgets has none.
  locationsPerDay: account.budgets?.locationsPerDay ?? null,
  storageBytes: account.budgets?.storageBytes ?? null,
  // An effect that was posted before accounts had these settings has none.
  emergency: storeEmergencySettings({ ...DEFAULT_EMERGENCY_SETTINGS, ...account }),
  nextExpiry,
  creation: account.creation,
  lastModified: account.lastModified,
  version: account.version,
})

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

export const writeAccount = (
  db: Database,
  { account, nextExpiry, seq }: PostedAs<'account'>,
): D1PreparedStatement[] => [upsertAccount(db, { ...toAccountColumns(account, nextExpiry), seq })]

export const removeAccount = (
  db: Database,
  accountId: string,
  { at }: PostedAs<'account-gone'>,
): D1PreparedStatement[] => [
  statement(
    db,
    db.insert(erasures).values({ id: accountId, accountId, creation: at }).onConflictDoNothing(),
  ),
  statement(db, db.delete(accounts).where(eq(accounts.id, accountId))),
]

/** Moves the account's event numbers ahead, so that a restored cell repeats none. */
export const jumpEvents = (
  db: Database,
  accountId: string,
  { to }: PostedAs<'events-jump'>,
): D1PreparedStatement[] => [
  statement(
    db,
    sql`INSERT INTO ${eventHeads} (${names(eventHeads.accountId, eventHeads.sequence)})
      VALUES (${accountId}, ${to})
      ON CONFLICT (account_id) DO UPDATE SET sequence = max(sequence, excluded.sequence)`,
  ),
]
