import { and, eq, sql } from 'drizzle-orm'
import { insertSelect } from '../../../db/query.ts'
import { cells, directory, sourceDirectory } from '../../../db/schema.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { Write } from '../outbox.ts'

/** Lists an account again that a restored directory has lost. */
export const listAccount: Write<'directory'> = (db, accountId, { account }) => {
  const { number, cell, userName } = account
  return [
    db
      .insert(directory)
      .values({ number, userNameKey: fold(userName), accountId, cell })
      .onConflictDoNothing(),
    insertSelect(
      cells,
      { cell, accounts: 1 },
      sql`WHERE changes() = 1 ON CONFLICT (cell) DO UPDATE SET accounts = accounts + 1`,
    ),
  ]
}

export const unlistAccount: Write<'directory-gone'> = (db, accountId, { cell }) => [
  db
    .update(cells)
    .set({ accounts: sql`${cells.accounts} - 1` })
    .where(
      sql`${cells.cell} = ${cell} AND EXISTS (
        SELECT 1 FROM ${directory} WHERE ${directory.accountId} = ${accountId})`,
    ),
  db.delete(directory).where(eq(directory.accountId, accountId)),
  db.delete(sourceDirectory).where(eq(sourceDirectory.accountId, accountId)),
]

/** Names the cell that an account has moved to. The counts of the cells follow once. */
export const relistAccount: Write<'directory-moved'> = (db, accountId, { from, to }) => [
  db.update(sourceDirectory).set({ cell: to }).where(eq(sourceDirectory.accountId, accountId)),
  db
    .update(directory)
    .set({ cell: to })
    .where(and(eq(directory.accountId, accountId), eq(directory.cell, from))),
  insertSelect(
    cells,
    { cell: to, accounts: 1 },
    sql`WHERE changes() = 1 ON CONFLICT (cell) DO UPDATE SET accounts = accounts + 1`,
  ),
  db
    .update(cells)
    .set({ accounts: sql`${cells.accounts} - 1` })
    .where(and(eq(cells.cell, from), sql`changes() = 1`)),
]
