import { type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { literal, names, statement } from '../db/statement.ts'

const primaryKeyOf = (table: SQLiteTable) => {
  const { primaryKeys, columns } = getTableConfig(table)
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
}

/** Deletes up to `limit` rows and returns how many: D1 cancels a query after 30 s. */
export const deletePage = async (
  db: Database,
  table: SQLiteTable,
  where: SQL,
  limit: number,
): Promise<number> => {
  const key = names(...primaryKeyOf(table))
  const page = sql`SELECT ${key} FROM ${table} WHERE ${where} LIMIT ${literal(limit)}`
  const { meta } = await statement(db, sql`DELETE FROM ${table} WHERE (${key}) IN (${page})`).run()
  return meta.changes
}
