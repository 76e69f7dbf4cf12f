import { eq, sql } from 'drizzle-orm'
import type { Database } from '../../../db/open.ts'
import { cells, directory, sourceDirectory } from '../../../db/schema.ts'
import { names, statement } from '../../../db/statement.ts'
import { fold } from '../../../domain/text/fold.ts'
import type { PostedAs } from '../outbox.ts'

/** Lists an account again that a restored directory has lost. */
export const listAccount = (
  db: Database,
  { account: { id, number, cell, userName } }: PostedAs<'directory'>,
): D1PreparedStatement[] => [
  statement(
    db,
    db
      .insert(directory)
      .values({ number, userNameKey: fold(userName), accountId: id, cell })
      .onConflictDoNothing(),
  ),
  statement(
    db,
    sql`INSERT INTO ${cells} (${names(cells.cell, cells.accounts)})
      SELECT ${cell}, 1 WHERE changes() = 1
      ON CONFLICT (cell) DO UPDATE SET accounts = accounts + 1`,
  ),
]

export const unlistAccount = (
  db: Database,
  accountId: string,
  { cell }: PostedAs<'directory-gone'>,
): D1PreparedStatement[] => [
  statement(
    db,
    db
      .update(cells)
      .set({ accounts: sql`${cells.accounts} - 1` })
      .where(
        sql`${cells.cell} = ${cell} AND EXISTS (
          SELECT 1 FROM ${directory} WHERE ${directory.accountId} = ${accountId})`,
      ),
  ),
  statement(db, db.delete(directory).where(eq(directory.accountId, accountId))),
  statement(db, db.delete(sourceDirectory).where(eq(sourceDirectory.accountId, accountId))),
]
