import { Column, getTableColumns, getTableName, Table } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'

/*
 * Statements for the SQLite of an object, typed by its declared tables. They are synchronous, and
 * take about a microsecond to build: the platform keeps prepared statements by their text.
 */

/** A piece of SQL with its values. */
class Fragment {
  readonly text: string
  readonly values: SqlStorageValue[]

  constructor(text: string, values: SqlStorageValue[]) {
    this.text = text
    this.values = values
  }
}

type Part = SQLiteColumn | SQLiteTable | Fragment | SqlStorageValue

/** Columns and tables become their names, without a prefix; values are bound. */
export const query = (texts: TemplateStringsArray, ...parts: Part[]): Fragment => {
  const values: SqlStorageValue[] = []
  const toText = (part: Part): string => {
    if (part instanceof Column) return part.name
    if (part instanceof Table) return getTableName(part)
    values.push(...(part instanceof Fragment ? part.values : [part]))
    return part instanceof Fragment ? part.text : '?'
  }
  return new Fragment(String.raw({ raw: texts }, ...parts.map(toText)), values)
}

type Row<T extends SQLiteTable> = T['$inferSelect']
type Changes<T extends SQLiteTable> = { [K in keyof Row<T>]?: Row<T>[K] | Fragment | undefined }
type Condition<T extends SQLiteTable> = Partial<Row<T>> | Fragment

interface Assignments {
  names: string[]
  texts: string[]
  values: SqlStorageValue[]
}

/** The members that are columns of the table, except those that are undefined. */
const assign = (table: SQLiteTable, row: Record<string, unknown>): Assignments => {
  const names: string[] = []
  const texts: string[] = []
  const values: SqlStorageValue[] = []
  for (const [member, column] of Object.entries(getTableColumns(table))) {
    const value = row[member]
    if (value === undefined) continue
    names.push(column.name)
    texts.push(value instanceof Fragment ? value.text : '?')
    if (value instanceof Fragment) values.push(...value.values)
    else values.push(value === null ? null : (column.mapToDriverValue(value) as SqlStorageValue))
  }
  return { names, texts, values }
}

const joinPairs = ({ names, texts }: Assignments, separator: string): string =>
  names.map((name, index) => `${name} = ${texts[index]}`).join(separator)

const toCondition = (table: SQLiteTable, where: object): Fragment => {
  if (where instanceof Fragment) return where
  const keys = assign(table, where as Record<string, unknown>)
  return new Fragment(joinPairs(keys, ' AND '), keys.values)
}

export const runQuery = <R extends Record<string, SqlStorageValue>>(
  sql: SqlStorage,
  { text, values }: Fragment,
): SqlStorageCursor<R> => sql.exec<R>(text, ...values)

/** The only value of the only row. */
export const readValue = <T extends SqlStorageValue>(sql: SqlStorage, query: Fragment): T =>
  Object.values(runQuery(sql, query).one())[0] as T

/** The SELECT of a table's rows, and the columns whose values are decoded. */
const selections = new WeakMap<SQLiteTable, { text: string; decoded: [string, SQLiteColumn][] }>()

const selectionOf = (table: SQLiteTable) => {
  const known = selections.get(table)
  if (known) return known
  const columns = Object.entries(getTableColumns(table) as Record<string, SQLiteColumn>)
  const list = columns.map(([member, { name }]) => `${name} AS "${member}"`)
  const selection = {
    text: `SELECT ${list.join(', ')} FROM ${getTableName(table)} WHERE `,
    decoded: columns.filter(([, { dataType }]) => dataType === 'boolean' || dataType === 'json'),
  }
  selections.set(table, selection)
  return selection
}

/** The condition may end with ORDER BY and LIMIT. */
export const selectRows = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  where: Condition<T>,
): Row<T>[] => {
  const { text, decoded } = selectionOf(table)
  const condition = toCondition(table, where)
  const rows = sql.exec(text + condition.text, ...condition.values).toArray()
  for (const row of rows as Record<string, unknown>[])
    for (const [member, column] of decoded)
      if (row[member] !== null) row[member] = column.mapFromDriverValue(row[member])
  return rows as Row<T>[]
}

export const findRow = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  where: Condition<T>,
): Row<T> | undefined => selectRows(sql, table, where)[0]

export const hasRow = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  where: Condition<T>,
): boolean => {
  const { text, values } = toCondition(table, where)
  const found = sql.exec(`SELECT 1 FROM ${getTableName(table)} WHERE ${text} LIMIT 1`, ...values)
  return found.toArray().length > 0
}

/** `ifExists`: what to do with a row that has the key; without it an insert fails. */
export const insertRow = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  row: T['$inferInsert'],
  ifExists?: 'replace' | 'ignore' | Changes<T>,
): void => {
  const { names, texts, values } = assign(table, row)
  const verb = typeof ifExists === 'string' ? `INSERT OR ${ifExists}` : 'INSERT'
  const changes = typeof ifExists === 'object' ? assign(table, ifExists) : null
  const conflict = changes ? `ON CONFLICT DO UPDATE SET ${joinPairs(changes, ', ')}` : ''
  sql.exec(
    `${verb} INTO ${getTableName(table)} (${names}) VALUES (${texts}) ${conflict}`,
    ...values,
    ...(changes?.values ?? []),
  )
}

/** Without a condition, all rows of the table: `account` has one. */
export const updateRows = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  changes: Changes<T>,
  where: Condition<T> = query`true`,
): void => {
  const set = assign(table, changes)
  const condition = toCondition(table, where)
  sql.exec(
    `UPDATE ${getTableName(table)} SET ${joinPairs(set, ', ')} WHERE ${condition.text}`,
    ...set.values,
    ...condition.values,
  )
}

export const deleteRows = <T extends SQLiteTable>(
  sql: SqlStorage,
  table: T,
  where: Condition<T>,
): void => {
  const { text, values } = toCondition(table, where)
  sql.exec(`DELETE FROM ${getTableName(table)} WHERE ${text}`, ...values)
}
