import { and, asc, eq, getTableColumns, gt, inArray, max, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { refuse } from '../db/queries/owned.ts'
import { type InferRow, insertSelect } from '../db/query.ts'
import {
  accounts,
  accountUsage,
  cells,
  devices,
  directory,
  erasures,
  sourceDirectory,
} from '../db/schema.ts'
import { names, runBatch, statement, valuesOf } from '../db/statement.ts'
import type { Usage } from '../domain/account/budget.ts'
import { cellSizeStep, fullCellBytes } from '../domain/account/cell.ts'
import { MAX_SANDBOXES } from '../domain/sandbox/sandbox.ts'

const ENTRY = { number: directory.number, accountId: directory.accountId, cell: directory.cell }
export type DirectoryEntry = InferRow<typeof ENTRY>

interface NewEntry {
  accountId: string
  userNameKey: string
  /** The cells to choose from: the smallest is taken, then the one with the fewest accounts. */
  cells: number[]
  maxCellBytes: number
  minNumber: number
  /** Of a sandbox, the account that opens it, which may have a few. */
  sandboxOf?: string | undefined
  now: number
}

/** The smallest cell of the choices that is not full, if there is one. */
const selectCell = ({ cells: choices, maxCellBytes }: NewEntry) => {
  const size = sql`ifnull(${cells.sizeBytes}, 0)`
  return sql`SELECT choice.value AS cell FROM json_each(${JSON.stringify(choices)}) choice
    LEFT JOIN ${cells} ON ${cells.cell} = choice.value
    WHERE ${size} < ${fullCellBytes(maxCellBytes)}
    ORDER BY CAST(${size} / ${cellSizeStep(maxCellBytes)} AS INTEGER),
      ifnull(${cells.accounts}, 0), choice.value LIMIT 1`
}

const countSandboxes = (sandboxOf: string | undefined) =>
  sql`(SELECT count(*) FROM ${directory} WHERE ${directory.sandboxOf} = ${sandboxOf ?? null})`

/** Adds an account to the directory, or finds the entry that an earlier try has added. */
export const addToDirectory = async (db: Database, entry: NewEntry) => {
  const { accountId, userNameKey, minNumber, sandboxOf, now } = entry
  const lastNumber = sql`(SELECT seq FROM sqlite_sequence WHERE name = 'directory')`
  const { found, counts } = await runBatch(db, {
    added: insertSelect(
      directory,
      {
        number: sql`max(${minNumber}, 1 + ifnull(${lastNumber}, 0))`,
        userNameKey,
        accountId,
        cell: sql`chosen.cell`,
        openingAt: now,
        sandboxOf: sandboxOf ?? null,
      },
      sql`FROM (${selectCell(entry)}) chosen
        WHERE ${countSandboxes(sandboxOf)} < ${MAX_SANDBOXES} ON CONFLICT DO NOTHING`,
    ),
    counted: insertSelect(
      cells,
      { cell: directory.cell, accounts: 1 },
      sql`FROM ${directory} WHERE ${directory.accountId} = ${accountId} AND changes() = 1
        ON CONFLICT (${names(cells.cell)}) DO UPDATE
          SET ${names(cells.accounts)} = ${cells.accounts} + 1`,
    ),
    found: db.select(ENTRY).from(directory).where(eq(directory.userNameKey, userNameKey)),
    counts: statement<{ sandboxes: number }>(
      db,
      sql`SELECT ${countSandboxes(sandboxOf)} AS sandboxes`,
    ),
  })
  const [listed] = found.results
  const hasAll = (counts.results[0]?.sandboxes ?? 0) >= MAX_SANDBOXES
  if (!listed) return refuse(hasAll ? 'sandbox-limit-reached' : 'cells-full')
  if (listed.accountId !== accountId) return refuse('user-name-taken')
  return { ok: true as const, entry: listed }
}

/** Removes an account from the directory. The count of its cell follows only if it was listed. */
export const removeFromDirectory = async (
  db: Database,
  { accountId, cell }: Pick<DirectoryEntry, 'accountId' | 'cell'>,
): Promise<boolean> => {
  const { removed } = await runBatch(db, {
    sources: db.delete(sourceDirectory).where(eq(sourceDirectory.accountId, accountId)),
    removed: db.delete(directory).where(eq(directory.accountId, accountId)),
    counted: db
      .update(cells)
      .set({ accounts: sql`${cells.accounts} - 1` })
      .where(and(eq(cells.cell, cell), sql`changes() = 1`)),
  })
  return removed.meta.changes > 0
}

/** The highest account number in this cell, even of accounts that the directory does not list. */
export const readHighestNumber = async (db: Database): Promise<number> => {
  const [row] = await db.select({ number: max(accounts.number) }).from(accounts)
  return row?.number ?? 0
}

/** Marks an account as completely opened, so that the sweep no longer checks it. */
export const confirmOpening = (db: Database, accountId: string) =>
  db.update(directory).set({ openingAt: null }).where(eq(directory.accountId, accountId))

export const findInDirectory = async (
  db: Database,
  accountId: string,
): Promise<DirectoryEntry | null> => {
  const [row] = await db.select(ENTRY).from(directory).where(eq(directory.accountId, accountId))
  return row ?? null
}

interface DirectoryListing {
  /** The number that the page before ended with. */
  after: number
  limit: number
  userNameKey?: string | undefined
  cell?: number | undefined
}

export const listDirectory = (
  db: Database,
  { after, limit, userNameKey, cell }: DirectoryListing,
): Promise<DirectoryEntry[]> =>
  db
    .select(ENTRY)
    .from(directory)
    .where(
      and(
        gt(directory.number, after),
        userNameKey === undefined ? undefined : eq(directory.userNameKey, userNameKey),
        cell === undefined ? undefined : eq(directory.cell, cell),
      ),
    )
    .orderBy(asc(directory.number))
    .limit(limit)

/** What a search compares. */
const SEARCHED = {
  id: accounts.id,
  name: accounts.name,
  userName: accounts.userName,
  status: accounts.status,
  deletedAt: accounts.deletedAt,
}

export const readSearched = (db: Database, ids: string[]) =>
  db
    .select(SEARCHED)
    .from(accounts)
    .where(inArray(accounts.id, valuesOf(ids)))

export type AccountRow = Omit<typeof accounts.$inferSelect, 'nextExpiry' | 'seq'> & {
  /** How many devices have expired on which day after `day`, the day that `used` is for. */
  expired: { day: string; count: number }[]
  usage: Usage | null
}

const DAY_MS = 86_400_000

/** Reads accounts of one cell with their devices that have expired since: few rows, by an index. */
export const readAccounts = async (db: Database, ids: string[]): Promise<AccountRow[]> => {
  const latestPossibleDay = new Date(Date.now() + DAY_MS).toISOString().slice(0, 10)
  const byDay = sql`SELECT ${devices.ends} AS day, count(*) AS count FROM ${devices}
    WHERE ${devices.accountId} = ${accounts.id} AND ${devices.ends} > ${accounts.day}
      AND ${devices.ends} <= ${latestPossibleDay} GROUP BY ${devices.ends}`
  const rows = await db
    .select({
      ...getTableColumns(accounts),
      expired: sql<string>`(SELECT json_group_array(json_object('day', day, 'count', count))
        FROM (${byDay}))`,
      usage: getTableColumns(accountUsage),
    })
    .from(accounts)
    .leftJoin(accountUsage, eq(accountUsage.accountId, accounts.id))
    .where(inArray(accounts.id, valuesOf(ids)))
  return rows.map(({ nextExpiry, seq, expired, ...row }) => ({
    ...row,
    expired: JSON.parse(expired) as AccountRow['expired'],
  }))
}

interface CellListing {
  cell: number
  /** The account to begin with. */
  from: [number: number, id: string]
  limit: number
}

/**
 * The accounts of a cell by number and id. Reads the directory and the cell: after a restore either
 * may lack an account, and two accounts may have the same number.
 */
export const listCell = async (
  directoryDb: Database,
  cellDb: Database,
  { cell, from: [number, id], limit }: CellListing,
): Promise<{ number: number; id: string }[]> => {
  const [listed, stored] = await Promise.all([
    directoryDb
      .select({ number: directory.number, id: directory.accountId })
      .from(directory)
      .where(
        and(
          eq(directory.cell, cell),
          sql`(${directory.number}, ${directory.accountId}) >= (${number}, ${id})`,
        ),
      )
      .orderBy(asc(directory.number))
      .limit(limit),
    cellDb
      .select({ number: accounts.number, id: accounts.id })
      .from(accounts)
      .where(sql`(${accounts.number}, ${accounts.id}) >= (${number}, ${id})`)
      .orderBy(asc(accounts.number), asc(accounts.id))
      .limit(limit),
  ])
  const all = new Map([...listed, ...stored].map((entry) => [entry.id, entry]))
  return [...all.values()]
    .sort((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}

/** Deletes an erased account that a restore has brought back. False when it was not there. */
export const eraseAgain = async (
  directoryDb: Database,
  cellDb: Database,
  { accountId, cell, now }: Pick<DirectoryEntry, 'accountId' | 'cell'> & { now: number },
): Promise<boolean> => {
  const { deleted } = await runBatch(cellDb, {
    deleted: cellDb.delete(accounts).where(eq(accounts.id, accountId)),
    erasure: cellDb
      .insert(erasures)
      .values({ accountId, id: accountId, creation: now })
      .onConflictDoNothing(),
  })
  const wasListed = await removeFromDirectory(directoryDb, { accountId, cell })
  return deleted.meta.changes > 0 || wasListed
}

/** Whether this cell has a row for the account. */
export const hasAccount = async (db: Database, accountId: string): Promise<boolean> =>
  (await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId))).length > 0
