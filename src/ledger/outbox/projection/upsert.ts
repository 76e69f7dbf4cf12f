import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { insertSelect } from '../../../db/query.ts'
import { compile, names } from '../../../db/statement.ts'

/** The columns of a table that its effects write: all but those that others write. */
export type Columns<T extends SQLiteTable, Others extends keyof T['$inferSelect']> = Required<
  Omit<T['$inferSelect'], Others>
>

interface Upsert<T extends SQLiteTable, Others> {
  table: T
  others: readonly Others[]
  key: SQLiteColumn
  /** The column with the account's id. */
  owner: SQLiteColumn
  seq: SQLiteColumn
  /** Keeps a missing row from being inserted. */
  unless: SQL
}

const excluded = ({ name }: SQLiteColumn): SQL => sql`excluded.${sql.identifier(name)}`

const columnsOf = (table: SQLiteTable) =>
  Object.entries(getTableColumns(table)) as [string, SQLiteColumn][]

/**
 * A statement that writes a row unless a later effect wrote it or it is another account's. Its
 * placeholders are the members of the row.
 */
export const compileUpsert = <
  T extends SQLiteTable,
  const Others extends keyof T['$inferSelect'] & string,
>({
  table,
  others,
  key,
  owner,
  seq,
  unless,
}: Upsert<T, Others>) => {
  const written = columnsOf(table).filter(([member]) => !others.includes(member as Others))
  const changes = written
    .filter(([, column]) => column !== key)
    .map(([, column]) => sql`${names(column)} = ${excluded(column)}`)
  const values = written.map(([member]) => [member, sql.placeholder(member)])
  return compile<Columns<T, Others>>(
    insertSelect(
      table,
      Object.fromEntries(values),
      sql`WHERE NOT (${unless})
        ON CONFLICT (${names(key)}) DO UPDATE SET ${sql.join(changes, sql`, `)}
        WHERE ${seq} < ${excluded(seq)} AND ${owner} = ${excluded(owner)}`,
    ),
  )
}

/** Whether a row of the cell differs from the given members. */
export const differs = <T extends SQLiteTable>(
  table: T,
  row: Record<string, unknown> | undefined,
  expected: Partial<T['$inferSelect']>,
): boolean =>
  !row ||
  columnsOf(table).some(([member, column]) => {
    const value = (expected as Record<string, unknown>)[member]
    if (value === undefined) return false
    return row[column.name] !== (value === null ? null : column.mapToDriverValue(value))
  })
