import { sql } from 'drizzle-orm'
import { openCell, openDirectory } from '../../db/open.ts'
import { select } from '../../db/query.ts'
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

interface DevicePage {
  /** Ids of the ledger's devices on this page. */
  ids: string[]
  /** The page has the keys after this one, up to `upTo`. */
  after: number
  upTo: number
  /** At most so many of the cell's devices are read, in the order of their keys. */
  limit: number
}

const selectLastKey = (accountId: string, [first, last]: [number, number]) => {
  const used = [devices.key, locations.deviceKey, alerts.deviceKey].map(
    (key) =>
      sql`SELECT max(${key}) AS key FROM ${key.table} WHERE ${key} BETWEEN ${first} AND ${last}`,
  )
  const erased = sql`SELECT max(${erasures.deviceKey}) FROM ${erasures}
    WHERE ${erasures.accountId} = ${accountId}`
  const all = sql.join([...used, erased], sql` UNION ALL `)
  return select({ key: sql<number | null>`max(key)` }, sql`FROM (${all})`)
}

/** What the cell and the directory have of an account, for one page of its devices. */
export const readCellState = async (env: Env, account: Account, page: DevicePage) => {
  const { id, number, userName } = account
  const { ids, after, upTo, limit } = page
  const db = openCell(env, account.cell)
  const keys = keysBeside(deviceKey(number, 0))
  const read = await runBatch(db, {
    account: statement<Row>(db, sql`SELECT * FROM ${accounts} WHERE ${accounts.id} = ${id}`),
    head: select(
      { sequence: eventHeads.sequence },
      sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${id}`,
    ),
    // The unary plus keeps the planner from reading all devices of the account for each page.
    devices: statement<Row>(
      db,
      sql`SELECT * FROM ${devices}
        WHERE ${devices.key} > ${after} AND ${devices.key} <= ${Math.min(upTo, keys[1])}
          AND +${devices.accountId} = ${id}
        ORDER BY ${devices.key} LIMIT ${limit}`,
    ),
    tombstones: select(
      { id: tombstones.id },
      sql`FROM ${tombstones}
        WHERE ${tombstones.accountId} = ${id} AND ${tombstones.id} IN ${valuesOf(ids)}`,
    ),
    lastKey: after === 0 ? selectLastKey(id, keys) : undefined,
  })
  const directoryDb = openDirectory(env)
  const entries = await readAll(
    statement(
      directoryDb,
      select(
        { id: directory.accountId, number: directory.number },
        sql`FROM ${directory}
          WHERE ${directory.accountId} = ${id} OR ${directory.userNameKey} = ${fold(userName)}
            OR ${directory.number} = ${number}`,
      ),
    ),
  )
  const other = entries.find((entry) => entry.id !== id)
  const takes = other?.number === number ? 'account-number-taken' : 'user-name-taken'
  return {
    account: read.account.results[0],
    isListed: entries.some((entry) => entry.id === id),
    /** Another account has its user name or its number by now. */
    taken: other ? takes : null,
    /** The account's last event. */
    head: read.head.results[0]?.sequence ?? 0,
    devices: read.devices.results,
    /** Ids of the ledger's devices that the cell has as deleted. */
    tombstoned: new Set(read.tombstones.results.map((tombstone) => tombstone.id)),
    /**
     * The greatest key under which the cell has a device of the account or anything left of one.
     * Only the first page looks for it.
     */
    lastKey: read.lastKey?.results[0]?.key ?? 0,
  } as const
}
export type CellState = Awaited<ReturnType<typeof readCellState>>
