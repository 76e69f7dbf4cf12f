import { getTableName, type SQL, sql } from 'drizzle-orm'
import { getTableConfig, type SQLiteColumn, type SQLiteTable } from 'drizzle-orm/sqlite-core'
import type { Database } from './open.ts'
import * as schema from './schema.ts'
import { literal, names, statement } from './statement.ts'

/* The tables that have rows of an account: what an erasure deletes and a move copies. */

type AccountTable = SQLiteTable & { accountId: SQLiteColumn }

/** The ledger removes an account from the directory. */
const NOT_ERASED: SQLiteTable[] = [schema.directory, schema.sourceDirectory]

/** Every table with rows of an account. Its erasures come last: they tell its device keys. */
export const ACCOUNT_TABLES = [
  ...Object.values<SQLiteTable>(schema).filter(
    (table): table is AccountTable =>
      'accountId' in table && table !== schema.erasures && !NOT_ERASED.includes(table),
  ),
  schema.erasures,
]

export const primaryKeyOf = (table: SQLiteTable): SQLiteColumn[] => {
  const { primaryKeys, columns } = getTableConfig(table)
  return primaryKeys[0]?.columns ?? columns.filter(({ primary }) => primary)
}

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

/** A table whose rows move with their account. */
export interface MovedTable {
  table: SQLiteTable
  name: string
  /** What is copied. */
  columns: SQLiteColumn[]
  /** What a row is known by in both cells. */
  key: SQLiteColumn[]
  /** The order in which an index has the rows of an account. */
  order: SQLiteColumn[]
  /** The column that names the account; null where only `deviceKey` tells it. */
  owner: SQLiteColumn | null
  /** The first column of the key, where it is the key of a device: an account has a range of them. */
  deviceKey: SQLiteColumn | null
}

/** What the move itself writes. */
const NOT_MOVED: SQLiteTable[] = [schema.moves, schema.movedAccounts, schema.moveChanges]

const { alerts, devices, locations, stays, unclaimedReports: reports } = schema
const KEYS = new Map<SQLiteTable, SQLiteColumn[]>([
  // Each cell numbers them itself, in the order of their arrival.
  [reports, [reports.sourceId, reports.identifierKey, reports.key]],
])
const ORDERS = new Map<SQLiteTable, SQLiteColumn[]>([
  [alerts, [alerts.time, alerts.id]],
  [reports, [reports.number]],
])
const DEVICE_KEYS = new Map<SQLiteTable, SQLiteColumn>([
  [devices, devices.key],
  [locations, locations.deviceKey],
  [stays, stays.deviceKey],
])

const toMoved = (table: SQLiteTable, owner: SQLiteColumn | null): MovedTable => {
  const key = KEYS.get(table) ?? primaryKeyOf(table)
  const { columns } = getTableConfig(table)
  return {
    table,
    name: getTableName(table),
    columns: columns.filter((column) => column.name !== 'number' || table !== reports),
    key,
    order: ORDERS.get(table) ?? key,
    owner,
    deviceKey: DEVICE_KEYS.get(table) ?? null,
  }
}

/** Every table whose rows move. */
export const MOVED_TABLES: MovedTable[] = [
  ...ACCOUNT_TABLES.filter((table) => !NOT_MOVED.includes(table)).map((table) =>
    toMoved(table, table.accountId),
  ),
  toMoved(locations, null),
  toMoved(schema.accounts, schema.accounts.id),
]
