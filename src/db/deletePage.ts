import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteTable } from 'drizzle-orm/sqlite-core'
import { primaryKeyOf } from './accountTables.ts'
import type { Database } from './open.ts'
import { literal, names, statement } from './statement.ts'

/** Deletes up to `limit` rows: D1 cancels a query after 30 s. False when nothing is left. */
export const deletePage = async (
  db: Database,
  table: SQLiteTable,
  where: SQL,
  limit: number,
): Promise<boolean> => {
  const key = names(...primaryKeyOf(table))
  const page = sql`SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${literal(limit)}`
  const { meta } = await statement(db, sql`DELETE FROM ${table} WHERE (${key}) IN (${page})`).run()
  // At least: rows that triggers write are changes too.
  return meta.changes >= limit
}
