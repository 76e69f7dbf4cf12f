import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import { compile, names } from '../../../db/statement.ts'

/** A row by the names of its columns. */
export type Columns = Record<string, string | number | null>

interface Upsert {
  table: SQLWrapper
  columns: SQLiteColumn[]
  key: SQLiteColumn
  /** The column with the account's id. */
  owner: SQLiteColumn
  seq: SQLiteColumn
  /** Keeps a missing row from being inserted. */
  unless: SQL
}

const excluded = ({ name }: SQLiteColumn): SQL => sql`excluded.${sql.identifier(name)}`

/**
 * A statement that writes a row unless a later effect wrote it or it is another account's. Its
 * placeholders are the names of the columns.
 */
export const compileUpsert = ({ table, columns, key, owner, seq, unless }: Upsert) => {
  const values = columns.map(({ name }) => sql.placeholder(name))
  const changes = columns
    .filter((column) => column !== key)
    .map((column) => sql`${names(column)} = ${excluded(column)}`)
  return compile<Columns>(
    sql`INSERT INTO ${table} (${names(...columns)})
      SELECT ${sql.join(values, sql`, `)} WHERE NOT (${unless})
      ON CONFLICT (${names(key)}) DO UPDATE SET ${sql.join(changes, sql`, `)}
      WHERE ${seq} < ${excluded(seq)} AND ${owner} = ${excluded(owner)}`,
  )
}
