import { eq, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, sourceDirectory, sources } from '../db/schema.ts'
import { names, readFirst, statement } from '../db/statement.ts'

/* The directory of sources, in cell 0. */

/** Where a source is. In cell 0. */
export const findInDirectory = (
  directory: Database,
  id: string,
): Promise<{ account_id: string; cell: number } | null> =>
  readFirst(
    statement(directory, sql`SELECT * FROM ${sourceDirectory} WHERE ${sourceDirectory.id} = ${id}`),
  )

export const listInDirectory = async (
  directory: Database,
  entry: { id: string; accountId: string; cell: number },
): Promise<void> => {
  await directory.insert(sourceDirectory).values(entry).onConflictDoNothing()
}

/** Lists the sources of an account again that a restored directory has lost. Returns how many. */
export const listSourcesAgain = async (
  directory: Database,
  db: Database,
  { accountId, cell }: { accountId: string; cell: number },
): Promise<number> => {
  const own = await db
    .select({ id: sources.id })
    .from(sources)
    .where(eq(sources.accountId, accountId))
  if (own.length === 0) return 0
  const { meta } = await statement(
    directory,
    sql`INSERT INTO ${sourceDirectory}
        (${names(sourceDirectory.id, sourceDirectory.accountId, sourceDirectory.cell)})
      SELECT value, ${accountId}, ${cell} FROM json_each(${JSON.stringify(own.map(({ id }) => id))})
      WHERE true ON CONFLICT DO NOTHING`,
  ).run()
  return meta.changes
}

export const removeFromDirectory = async (directory: Database, id: string): Promise<void> => {
  await directory.delete(sourceDirectory).where(eq(sourceDirectory.id, id))
}

/** Whether the account of a source may receive anything. In the account's cell. */
export const isAccountActive = async (db: Database, accountId: string): Promise<boolean> => {
  const row = await readFirst(
    statement<{ disabled: number }>(
      db,
      sql`SELECT ${accounts.disabled} FROM ${accounts} WHERE ${accounts.id} = ${accountId}`,
    ),
  )
  return row?.disabled === 0
}

/** How long the account keeps locations and alerts. In the account's cell. */
export const readRetentionDays = async (db: Database, accountId: string): Promise<number> => {
  const row = await readFirst(
    statement<{ retention_days: number }>(
      db,
      sql`SELECT ${accounts.retentionDays} FROM ${accounts} WHERE ${accounts.id} = ${accountId}`,
    ),
  )
  return row?.retention_days ?? 0
}
