import { eq, getTableColumns, sql } from 'drizzle-orm'
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

/** The account's row, without the number of the effect that writes it. */
export const toAccountColumns = (account: Account, nextExpiry: number | null): Columns => ({
  id: account.id,
  number: account.number,
  user_name: account.userName,
  name: account.name,
  time_zone: account.timeZone,
  day: account.day,
  licenses: account.total,
  used: account.used,
  disabled: account.disabled ? 1 : 0,
  retention_days: account.retentionDays,
  // An effect that was posted before accounts had budgets has none.
  locations_per_day: account.budgets?.locationsPerDay ?? null,
  storage_bytes: account.budgets?.storageBytes ?? null,
  // An effect that was posted before accounts had these settings has none.
  emergency: storeEmergencySettings({ ...DEFAULT_EMERGENCY_SETTINGS, ...account }),
  next_expiry: nextExpiry,
  creation: account.creation,
  last_modified: account.lastModified,
  version: account.version,
})

/** Not of the ledger's record: whatever changes rules writes it. */
const { rulesVersion, ...recordColumns } = getTableColumns(accounts)

/** While an erasure is pending, a late repeat does not bring the row back. */
const upsertAccount = compileUpsert({
  table: accounts,
  columns: Object.values(recordColumns),
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
