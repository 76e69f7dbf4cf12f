import { getTableColumns, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { driverValues } from '../db/queries/archiveRows.ts'
import { select } from '../db/query.ts'
import { commaSeparated, names, runBatch } from '../db/statement.ts'
import { ArchiveError } from '../domain/archive/tar.ts'

type Row = Record<string, unknown>

/** A statement takes at most 2 MB of values, and a batch of few keeps the database free for others. */
const MAX_VALUES_LENGTH = 900_000

const chunksOf = (rows: readonly unknown[][]): string[] => {
  const chunks: string[] = []
  let texts: string[] = []
  let length = 0
  for (const row of rows) {
    const text = JSON.stringify(row)
    if (length + text.length > MAX_VALUES_LENGTH && texts.length > 0) {
      chunks.push(`[${texts}]`)
      texts = []
      length = 0
    }
    texts.push(text)
    length += text.length + 1
  }
  return texts.length > 0 ? [...chunks, `[${texts}]`] : chunks
}

/** Whether ids of the table are unique among all accounts. */
const hasOwnIds = (columns: Record<string, SQLiteColumn>): boolean =>
  columns.id !== undefined && (columns.id.primary || columns.id.isUnique)

/**
 * Inserts rows that are not there yet: an interrupted import may be repeated. Throws when an id or
 * a unique name belongs to another row.
 */
export const insertRows = async (
  db: Database,
  table: SQLiteTable,
  accountId: string,
  rows: readonly Row[],
): Promise<void> => {
  const columns = getTableColumns(table) as Record<string, SQLiteColumn>
  const entries = Object.entries(columns)
  const at = (name: string) => sql.raw(`'$[${entries.findIndex(([each]) => each === name)}]'`)
  const values = entries.map(([name]) => sql`json_extract(value, ${at(name)})`)
  for (const chunk of chunksOf(rows.map((row) => driverValues(entries, { ...row, accountId })))) {
    const given = sql`json_each(${chunk})`
    const { known, count } = await runBatch(db, {
      inserted: sql`INSERT INTO ${table} (${names(...entries.map(([, column]) => column))})
        SELECT ${commaSeparated(values)} FROM ${given} WHERE true ON CONFLICT DO NOTHING`,
      known: hasOwnIds(columns)
        ? select(
            { count: sql<number>`count(*)` },
            sql`FROM ${table} WHERE ${columns.accountId} = ${accountId} AND ${columns.id} IN
              (SELECT json_extract(value, ${at('id')}) FROM ${given})`,
          )
        : undefined,
      count: select({ count: sql<number>`count(*)` }, sql`FROM ${given}`),
    })
    if (known && known.results[0]?.count !== count.results[0]?.count)
      throw new ArchiveError('an id or a name is in use already')
  }
}
