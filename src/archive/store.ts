import { and, eq, getTableColumns, isNotNull, type SQL, sql } from 'drizzle-orm'
import type { SQLiteColumn, SQLiteTable } from 'drizzle-orm/sqlite-core'
import { isHere } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { type Columns, select } from '../db/query.ts'
import {
  alertLog,
  devices,
  directory,
  erasures,
  eventHeads,
  events,
  groupDevices,
  groups,
  sourceDirectory,
  sources,
  users,
} from '../db/schema.ts'
import { commaSeparated, readAll, readFirst, statement } from '../db/statement.ts'
import { ArchiveError } from '../domain/archive/tar.ts'
import type { CellPart, CellPartName } from './parts.ts'

/* The rows of an account, for an archive and from one. */

export type CellPosition = (string | number)[]
type Row = Record<string, unknown>

export interface CellPage {
  rows: Row[]
  /** Where the next page begins; null after the last. */
  next: CellPosition | null
}

interface PageQuery {
  accountId: string
  /** The range of the keys of the account's devices. */
  keys: [first: number, last: number]
  after: CellPosition | null
  /** Rows that are exported, beside those that the part leaves out. */
  condition: SQL
}

/** The device of a row, whose id a line has in place of the key. */
const joinDevice = (
  { table, hasDevice, noDeviceKey }: CellPart,
  lastKey: number,
): { join: SQL; is: SQL } => {
  if (!hasDevice) return { join: sql``, is: sql`true` }
  const { deviceKey } = table as SQLiteTable & { deviceKey: SQLiteColumn }
  const join = sql`LEFT JOIN ${devices} ON ${devices.key} = ${deviceKey}`
  return { join, is: sql`(${devices.key} <= ${lastKey} OR ${deviceKey} = ${noDeviceKey})` }
}

/** Whether a row, and what it refers to, is older than the export: files before it have that too. */
export const isSettled = (
  name: CellPartName,
  { keys, began }: { keys: PageQuery['keys']; began: number },
): SQL => {
  const isOld = sql`${groups.creation} < ${began}`
  if (name === 'groups') return isOld
  if (name !== 'groupDevices' && name !== 'users') return sql`true`
  const { groupId } = name === 'users' ? users : groupDevices
  const isOfGroup = sql`(${groupId} IS NULL OR EXISTS (SELECT 1 FROM ${groups}
    WHERE ${groups.id} = ${groupId} AND ${isOld}))`
  if (name === 'groupDevices') return isOfGroup
  return sql`${isOfGroup} AND (${users.deviceId} IS NULL OR EXISTS (SELECT 1 FROM ${devices}
    WHERE ${devices.id} = ${users.deviceId} AND ${devices.key} <= ${keys[1]}))`
}

export const readPage = async (
  db: Database,
  part: CellPart,
  { accountId, keys, after, condition }: PageQuery,
): Promise<CellPage> => {
  const { table, order, pageRows, isByDevice, hasDevice } = part
  const columns: Columns = getTableColumns(table)
  const { join, is } = joinDevice(part, keys[1])
  const orderBy = commaSeparated(order)
  const isOfAccount = isByDevice
    ? sql`${order[0]} BETWEEN ${keys[0]} AND ${keys[1]}`
    : sql`${columns.accountId} = ${accountId}`
  const isAfter = after
    ? sql`(${orderBy}) > (${commaSeparated(after.map((value) => sql`${value}`))})`
    : sql`true`
  const position = Object.fromEntries(order.map((column, at) => [`order${at}`, column]))
  const rows: Row[] = await readAll(
    statement(
      db,
      select(
        { ...columns, ...position, ...(hasDevice && { deviceId: sql`${devices.id}` }) },
        sql`FROM ${table} ${join} WHERE ${isOfAccount} AND ${isAfter} AND ${is} AND ${condition}
          ORDER BY ${orderBy} LIMIT ${pageRows}`,
      ),
    ),
  )
  const last = rows.length === pageRows ? rows.at(-1) : undefined
  const next = last && order.map((_, at) => last[`order${at}`] as string | number)
  return { rows, next: next ?? null }
}

/** The key of the newest device. What others have that are created later is not exported. */
export const readLastKey = async (db: Database, [first, last]: PageQuery['keys']) => {
  const newest = sql<number | null>`max(${devices.key})`
  const range = sql`FROM ${devices} WHERE ${devices.key} BETWEEN ${first} AND ${last}`
  return (await readFirst(statement(db, select({ newest }, range))))?.newest ?? first
}

/** What the cell has of devices beside the ledger's record. */
export const readContacts = async (db: Database, accountId: string, ids: string[]) => {
  const found = await readAll(
    statement(
      db,
      select(
        { id: devices.id, sourceId: devices.sourceId, lastContact: devices.lastContact },
        sql`FROM ${devices} WHERE +${devices.accountId} = ${accountId}
          AND ${devices.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`,
      ),
    ),
  )
  return new Map(found.map((device) => [device.id, device]))
}

/** The keys of devices of the account by their ids. */
export const readKeys = async (
  db: Database,
  accountId: string,
  ids: Iterable<string>,
): Promise<Map<string, number>> => {
  const found = await readAll(
    statement(
      db,
      select(
        { id: devices.id, key: devices.key },
        sql`FROM ${devices} WHERE +${devices.accountId} = ${accountId}
          AND ${devices.id} IN (SELECT value FROM json_each(${JSON.stringify([...ids])}))`,
      ),
    ),
  )
  return new Map(found.map(({ id, key }) => [id, key]))
}

export const readSequence = async (db: Database, accountId: string): Promise<number> => {
  const row = await readFirst(
    statement(
      db,
      select(
        { sequence: eventHeads.sequence },
        sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${accountId}`,
      ),
    ),
  )
  return row?.sequence ?? 0
}

/** Whether the account has left the cell, or a device has come back after an event. */
export const wasDisturbed = async (
  db: Database,
  accountId: string,
  sequence: number,
): Promise<boolean> => {
  const restored = sql`SELECT 1 FROM ${events} WHERE ${events.accountId} = ${accountId}
    AND ${events.sequence} > ${sequence} AND ${events.type} = 'device.restored'`
  const found = sql<number>`NOT ${isHere(sql`${accountId}`)} OR EXISTS (${restored})`
  return (await readFirst(statement(db, select({ found }, sql``))))?.found === 1
}

/** Whether the cell still has to erase rows of an account with this id. */
export const isBeingErased = async (db: Database, accountId: string): Promise<boolean> =>
  (await readFirst(
    statement(
      db,
      select(
        { id: erasures.id },
        sql`FROM ${erasures} WHERE ${erasures.accountId} = ${accountId} AND ${erasures.id} = ${accountId}`,
      ),
    ),
  )) !== null

/** The events of the account go on after the last one of the archive. */
export const insertHead = (db: Database, accountId: string, sequence: number) =>
  db.insert(eventHeads).values({ accountId, sequence }).onConflictDoNothing()

/** A device of the account must not show up in a group of another one. */
export const refuseForeignGroups = async (
  db: Database,
  accountId: string,
  rows: readonly Row[],
): Promise<void> => {
  const ids = [...new Set(rows.map(({ groupId }) => groupId))]
  const own = sql`FROM ${groups} WHERE ${groups.accountId} = ${accountId}
    AND ${groups.id} IN (SELECT value FROM json_each(${JSON.stringify(ids)}))`
  const found = await readFirst(statement(db, select({ count: sql<number>`count(*)` }, own)))
  if (found?.count !== ids.length) throw new ArchiveError('a line is of a group that is not there')
}

/** What is known of an import only when all rows are there. */
export const readImported = async (db: Database, accountId: string) => {
  const isOwn = (table: { accountId: SQLiteColumn }) => sql`${table.accountId} = ${accountId}`
  const isGroup = sql`EXISTS (SELECT 1 FROM ${groups} WHERE ${groups.id} = ${users.groupId}
    AND ${isOwn(groups)})`
  const isDevice = sql`EXISTS (SELECT 1 FROM ${devices} WHERE ${devices.id} = ${users.deviceId}
    AND ${isOwn(devices)})`
  const found = await readFirst(
    statement(
      db,
      select(
        {
          lastEffect: sql<number>`(SELECT ifnull(max(${alertLog.seq}), 0) FROM ${alertLog}
            WHERE ${isOwn(alertLog)})`,
          sources: sql<number>`(SELECT count(*) FROM ${sources} WHERE ${isOwn(sources)})`,
          /** Users of groups and devices that are not the account's. */
          foreign: sql<number>`(SELECT count(*) FROM ${users} WHERE ${isOwn(users)}
            AND (${users.groupId} IS NOT NULL AND NOT ${isGroup}
              OR ${users.deviceId} IS NOT NULL AND NOT ${isDevice}))`,
        },
        sql``,
      ),
    ),
  )
  if (!found) throw new Error('nothing was read')
  return found
}

/** How many sources the directory has of an account. In cell 0. */
export const countSources = (directoryDb: Database, accountId: string): Promise<number> =>
  directoryDb.$count(sourceDirectory, eq(sourceDirectory.accountId, accountId))

/** Shows that the import goes on. False when its entry is gone. In cell 0. */
export const renewOpening = async (
  directoryDb: Database,
  accountId: string,
  now: number,
): Promise<boolean> => {
  const { meta } = await directoryDb
    .update(directory)
    .set({ openingAt: now })
    .where(and(eq(directory.accountId, accountId), isNotNull(directory.openingAt)))
  return meta.changes > 0
}
