import { type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { MovedTable } from '../db/accountTables.ts'
import type { Database } from '../db/open.ts'
import { moveChanges, movedAccounts } from '../db/schema.ts'
import { commaSeparated, literal, names, readAll, statement } from '../db/statement.ts'
import { deviceKey, keysBeside } from '../domain/account/device.ts'

/* Rows of an account, as they go from one cell to another. */

export type Value = string | number | null
export type Row = Record<string, Value>

export interface Owner {
  accountId: string
  number: number
}

/** Which rows of a table are the account's. */
export const isOwn = ({ owner, deviceKey: key }: MovedTable, account: Owner): SQL => {
  const own = sql`${owner} = ${account.accountId}`
  if (!key) return own
  const [first, last] = keysBeside(deviceKey(account.number, 0))
  const range = sql`${key} BETWEEN ${first} AND ${last}`
  return owner ? sql`${range} AND +${own}` : range
}

const MAX_PAGE_ROWS = 1000
/** A page ends with the row that goes beyond it: D1 takes values of up to 2 MB. */
const MAX_PAGE_BYTES = 400_000
/** A longer row is bound column by column. */
const MAX_JSON_ROW = 300_000

const sizeOf = (columns: SQLiteColumn[]): SQL => {
  const texts = columns.filter((column) => column.getSQLType() === 'text')
  const lengths = texts.map(({ name }) => sql`ifnull(octet_length(${sql.identifier(name)}), 0)`)
  return sql.join([literal(16 * columns.length), ...lengths], sql` + `)
}

const tuple = (columns: SQLiteColumn[]): SQL => sql`(${names(...columns)})`
const valuesOfTuple = (values: Value[]): SQL =>
  sql`(${commaSeparated(values.map((value) => sql`${value}`))})`

export const keyOf = ({ key }: MovedTable, row: Row): Value[] =>
  key.map(({ name }) => row[name] ?? null)
export const keyText = (moved: MovedTable, row: Row): string => JSON.stringify(keyOf(moved, row))

export interface PageOfRows {
  rows: Row[]
  isLast: boolean
  /** Where the next page begins. */
  last: Value[] | null
}

/** The next rows of an account in the order given, at most about 400 KB. */
export const readPage = async (
  db: Database,
  moved: MovedTable,
  { account, after, order }: { account: Owner; after: Value[] | null; order: SQLiteColumn[] },
): Promise<PageOfRows> => {
  const columns = [...new Set([...moved.columns, ...order])]
  const isAfter = after ? sql` AND ${tuple(order)} > ${valuesOfTuple(after)}` : sql``
  const page = sql`SELECT ${names(...columns)} FROM ${moved.table}
    WHERE ${isOwn(moved, account)}${isAfter} ORDER BY ${names(...order)}
    LIMIT ${literal(MAX_PAGE_ROWS)}`
  const size = sizeOf(columns)
  const rows = await readAll(
    statement<Row>(
      db,
      sql`SELECT * FROM (SELECT *, count(*) OVER () AS page_rows,
          sum(${size}) OVER (ORDER BY ${names(...order)} ROWS UNBOUNDED PRECEDING) - (${size})
            AS page_bytes
        FROM (${page})) WHERE page_bytes < ${literal(MAX_PAGE_BYTES)} ORDER BY ${names(...order)}`,
    ),
  )
  const end = rows.at(-1)
  const isLast = !end || (end.page_rows === rows.length && rows.length < MAX_PAGE_ROWS)
  return { rows, isLast, last: end ? order.map(({ name }) => end[name] ?? null) : after }
}

const member = (at: number): SQL => sql.raw(`value ->> '$[${at}]'`)
const listed = (count: number, json: string): SQL =>
  sql`(SELECT ${commaSeparated(Array.from({ length: count }, (_, at) => member(at)))}
    FROM json_each(${json}))`

/** The rows with these keys. */
export const readByKeys = (db: Database, moved: MovedTable, keys: Value[][]): Promise<Row[]> =>
  readAll(
    statement<Row>(
      db,
      sql`SELECT ${names(...moved.columns)} FROM ${moved.table}
        WHERE ${tuple(moved.key)} IN ${listed(moved.key.length, JSON.stringify(keys))}
        ORDER BY ${names(...moved.order)}`,
    ),
  )

export interface Target {
  db: Database
  accountId: string
  /** Only whoever has this lease may write: a run that was overtaken writes nothing more. */
  lease: string
}

const hasLease = ({ accountId, lease }: Target): SQL => sql`EXISTS (SELECT 1 FROM ${movedAccounts}
  WHERE ${movedAccounts.accountId} = ${accountId} AND ${movedAccounts.lease} = ${lease})`

const isUnchanged = ({ accountId }: Target, { name }: MovedTable, key: SQL[]): SQL =>
  sql`NOT EXISTS (SELECT 1 FROM ${moveChanges} WHERE ${moveChanges.accountId} = ${accountId}
    AND ${moveChanges.name} = ${name}
    AND ${moveChanges.key} = json_array(${commaSeparated(key)}))`

/**
 * Writes rows as they are. One that has the same unique value is out of date: its own copy follows,
 * since the cell that the rows come from has no two of them.
 */
export const writeRows = async (
  target: Target,
  moved: MovedTable,
  rows: Row[],
  { unlessChanged = false } = {},
): Promise<void> => {
  const { columns, key, table } = moved
  const lists = rows.map((row) => columns.map(({ name }) => row[name] ?? null))
  const into = sql`INSERT OR REPLACE INTO ${table} (${names(...columns)})`
  const isLong = (list: Value[]) => JSON.stringify(list).length > MAX_JSON_ROW
  const short = lists.filter((list) => !isLong(list))
  const at = key.map((column) => member(columns.indexOf(column)))
  const condition = unlessChanged ? sql` AND ${isUnchanged(target, moved, at)}` : sql``
  const all = columns.map((_, index) => member(index))
  if (short.length > 0)
    await statement(
      target.db,
      sql`${into} SELECT ${commaSeparated(all)} FROM json_each(${JSON.stringify(short)})
        WHERE ${hasLease(target)}${condition}`,
    ).run()
  for (const list of lists.filter(isLong)) {
    const own = key.map((column) => sql`${list[columns.indexOf(column)]}`)
    const unchanged = unlessChanged ? sql` AND ${isUnchanged(target, moved, own)}` : sql``
    const values = commaSeparated(list.map((value) => sql`${value}`))
    const select = sql`SELECT ${values} WHERE ${hasLease(target)}${unchanged}`
    await statement(target.db, sql`${into} ${select}`).run()
  }
}

export const deleteByKeys = async (
  target: Target,
  moved: MovedTable,
  keys: Value[][],
  { unlessChanged = false } = {},
): Promise<void> => {
  if (keys.length === 0) return
  const { key, table } = moved
  const own = key.map((column) => sql`${column}`)
  const unchanged = unlessChanged ? sql` AND ${isUnchanged(target, moved, own)}` : sql``
  await statement(
    target.db,
    sql`DELETE FROM ${table} WHERE ${tuple(key)} IN ${listed(key.length, JSON.stringify(keys))}
      AND ${hasLease(target)}${unchanged}`,
  ).run()
}

/** The rows of a range that nobody has written since the switch. */
export const readUnchanged = (
  target: Target,
  moved: MovedTable,
  range: { account: Owner; order: SQLiteColumn[]; after: Value[] | null; upTo: Value[] | null },
): Promise<Row[]> => {
  const { account, order, after, upTo } = range
  const limits = [
    ...(after ? [sql`${tuple(order)} > ${valuesOfTuple(after)}`] : []),
    ...(upTo ? [sql`${tuple(order)} <= ${valuesOfTuple(upTo)}`] : []),
  ].map((limit) => sql` AND ${limit}`)
  const key = moved.key.map((column) => sql`${column}`)
  return readAll(
    statement<Row>(
      target.db,
      sql`SELECT ${names(...moved.columns)} FROM ${moved.table}
        WHERE ${isOwn(moved, account)}${sql.join(limits)} AND ${isUnchanged(target, moved, key)}`,
    ),
  )
}
