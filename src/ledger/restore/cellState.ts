import { sql } from 'drizzle-orm'
import { openCell, openDirectory } from '../../db/open.ts'
import {
  accounts,
  alerts,
  devices,
  directory,
  erasures,
  eventHeads,
  locations,
  tombstones,
} from '../../db/schema.ts'
import { readAll, runBatch, statement, valuesOf } from '../../db/statement.ts'
import type { Account } from '../../domain/account/account.ts'
import { deviceKey, keysBeside } from '../../domain/account/device.ts'
import { fold } from '../../domain/text/fold.ts'
import type { Env } from '../../env.ts'

export type Row = Record<string, string | number | null>

/** What the cell and the directory have of an account, for one page of its devices. */
export interface CellState {
  account: Row | undefined
  isListed: boolean
  /** Another account has its user name or its number by now. */
  taken: 'user-name-taken' | 'account-number-taken' | null
  /** The account's last event. */
  head: number
  devices: Row[]
  /** Ids of the ledger's devices that the cell has as deleted. */
  tombstoned: Set<string>
  /**
   * The greatest key under which the cell has a device of the account or anything left of one. Only
   * the first page looks for it.
   */
  lastKey: number
}

export interface DevicePage {
  /** Ids of the ledger's devices on this page. */
  ids: string[]
  /** The page has the keys after this one, up to `upTo`. */
  after: number
  upTo: number
  /** At most so many of the cell's devices are read, in the order of their keys. */
  limit: number
}

const selectLastKey = (accountId: string, [first, last]: [number, number]) =>
  sql`SELECT max(key) AS key FROM (
    SELECT max(${devices.key}) AS key FROM ${devices}
      WHERE ${devices.key} BETWEEN ${first} AND ${last}
    UNION ALL SELECT max(${locations.deviceKey}) FROM ${locations}
      WHERE ${locations.deviceKey} BETWEEN ${first} AND ${last}
    UNION ALL SELECT max(${alerts.deviceKey}) FROM ${alerts}
      WHERE ${alerts.deviceKey} BETWEEN ${first} AND ${last}
    UNION ALL SELECT max(${erasures.deviceKey}) FROM ${erasures}
      WHERE ${erasures.accountId} = ${accountId})`

const readCell = (env: Env, account: Account, { ids, after, upTo, limit }: DevicePage) => {
  const db = openCell(env, account.cell)
  const { id } = account
  const keys = keysBeside(deviceKey(account.number, 0))
  // The unary plus keeps the planner from reading all devices of the account for each page.
  return runBatch(db, [
    statement<Row>(db, sql`SELECT * FROM ${accounts} WHERE ${accounts.id} = ${id}`),
    statement<{ sequence: number }>(
      db,
      sql`SELECT ${eventHeads.sequence} FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${id}`,
    ),
    statement<Row>(
      db,
      sql`SELECT * FROM ${devices}
        WHERE ${devices.key} > ${after} AND ${devices.key} <= ${Math.min(upTo, keys[1])}
          AND +${devices.accountId} = ${id}
        ORDER BY ${devices.key} LIMIT ${limit}`,
    ),
    statement<{ id: string }>(
      db,
      sql`SELECT ${tombstones.id} FROM ${tombstones}
        WHERE ${tombstones.accountId} = ${id} AND ${tombstones.id} IN ${valuesOf(ids)}`,
    ),
    statement<{ key: number | null }>(
      db,
      after === 0 ? selectLastKey(id, keys) : sql`SELECT NULL AS key`,
    ),
  ])
}

const readDirectory = (env: Env, { id, userName, number }: Account) => {
  const db = openDirectory(env)
  return readAll(
    statement<{ id: string; number: number }>(
      db,
      sql`SELECT ${directory.accountId} AS id, ${directory.number} FROM ${directory}
        WHERE ${directory.accountId} = ${id} OR ${directory.userNameKey} = ${fold(userName)}
          OR ${directory.number} = ${number}`,
    ),
  )
}

export const readCellState = async (
  env: Env,
  account: Account,
  page: DevicePage,
): Promise<CellState> => {
  const [accountRows, heads, deviceRows, deleted, lastKeys] = await readCell(env, account, page)
  const entries = await readDirectory(env, account)
  const other = entries.find(({ id }) => id !== account.id)
  const takes = other?.number === account.number ? 'account-number-taken' : 'user-name-taken'
  return {
    account: accountRows.results[0],
    isListed: entries.some(({ id }) => id === account.id),
    taken: other ? takes : null,
    head: heads.results[0]?.sequence ?? 0,
    devices: deviceRows.results,
    tombstoned: new Set(deleted.results.map(({ id }) => id)),
    lastKey: lastKeys.results[0]?.key ?? 0,
  }
}
