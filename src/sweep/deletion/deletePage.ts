import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { accountUsage, locations } from '../../db/schema.ts'
import { literal, names, runBatch } from '../../db/statement.ts'
import type { TakeQueries } from '../run.ts'

export const LOCATION_PAGE = 5000
/** The queries of `deleteLocations`. */
export const LOCATION_QUERIES = 2

/**
 * Deletes a page of locations and subtracts their bytes from their accounts' usage. `select` gives
 * `device_key`, `time`, `account_id` and `bytes` in a stable order: both statements must see the
 * same page.
 */
export const deleteLocations = async (db: Database, select: SQL): Promise<number> => {
  const page = sql`${select} LIMIT ${literal(LOCATION_PAGE)}`
  const freed = sql`SELECT account_id, sum(bytes) AS bytes FROM (${page}) GROUP BY account_id`
  const key = names(locations.deviceKey, locations.time)
  const { deleted } = await runBatch(db, {
    usage: sql`UPDATE ${accountUsage}
      SET storage_bytes = max(0, ${accountUsage.storageBytes} - freed.bytes)
      FROM (${freed}) freed WHERE ${accountUsage.accountId} = freed.account_id`,
    deleted: sql`DELETE FROM ${locations}
      WHERE (${key}) IN (SELECT device_key, time FROM (${page}))`,
  })
  return deleted.meta.changes
}

interface Pages {
  take: TakeQueries
  /** How many queries a page costs. */
  queries?: number
  /** Deletes one page; false when there is nothing left. */
  deleteNext: () => Promise<boolean>
}

/** Deletes page by page. False when the run may make no more queries and something may be left. */
export const deletePages = async ({ take, queries = 1, deleteNext }: Pages): Promise<boolean> => {
  while (take(queries)) if (!(await deleteNext())) return true
  return false
}
