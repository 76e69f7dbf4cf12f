import { and, eq, isNull, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { insertSelect } from '../db/query.ts'
import { accounts, sourceDirectory, sources } from '../db/schema.ts'
import type { AccountStatus } from '../domain/admin/status.ts'

/* The directory of sources, in cell 0. */

/** Where a source is. In cell 0. */
export const findInDirectory = (directory: Database, id: string) =>
  directory.select().from(sourceDirectory).where(eq(sourceDirectory.id, id)).get()

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
  const ids = JSON.stringify(own.map(({ id }) => id))
  const insert = insertSelect(
    sourceDirectory,
    { id: sql`value`, accountId, cell },
    sql`FROM json_each(${ids}) WHERE true ON CONFLICT DO NOTHING`,
  )
  return (await directory.run(insert)).meta.changes
}

export const removeFromDirectory = async (directory: Database, id: string): Promise<void> => {
  await directory.delete(sourceDirectory).where(eq(sourceDirectory.id, id))
}

export interface SourceAccount {
  status: AccountStatus
  /** The operator's limit; null for the default. */
  requestsPerMinute: number | null
}

/** The state of a source's account; null when it is deleted. In the account's cell. */
export const readSourceAccount = async (
  db: Database,
  accountId: string,
): Promise<SourceAccount | null> => {
  const row = await db
    .select({ status: accounts.status, requestsPerMinute: accounts.requestsPerMinute })
    .from(accounts)
    .where(and(eq(accounts.id, accountId), isNull(accounts.deletedAt)))
    .get()
  return row ?? null
}

/** How long the account keeps locations and alerts. In the account's cell. */
export const readRetentionDays = async (db: Database, accountId: string): Promise<number> => {
  const row = await db
    .select({ days: accounts.retentionDays })
    .from(accounts)
    .where(eq(accounts.id, accountId))
    .get()
  return row?.days ?? 0
}
