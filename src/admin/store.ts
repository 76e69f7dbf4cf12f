import { and, asc, eq, getTableColumns, gt, inArray, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { accounts, directory } from '../db/schema.ts'

export interface Listed {
  number: number
  accountId: string
  cell: number
}

const listed = { number: directory.number, accountId: directory.accountId, cell: directory.cell }

/**
 * Takes a user name, in the cell asked for or the one with the fewest accounts. Null where another account has the name;
 * the same entry again where this very account has it, so that a retry goes on from where it stopped.
 */
export const enterDirectory = async (
  db: Database,
  accountId: string,
  userNameKey: string,
  cells: number[],
  leastNumber: number,
  now: number,
): Promise<Listed | null> => {
  const client = db.$client
  const choices = JSON.stringify(cells)
  const [, , found] = await client.batch<{ number: number; account_id: string; cell: number }>([
    client
      .prepare(
        `INSERT INTO directory (number, user_name_key, account_id, cell, opening_at)
         SELECT max(?5, 1 + ifnull((SELECT seq FROM sqlite_sequence WHERE name = 'directory'), 0)), ?1, ?2,
           (SELECT choice.value FROM json_each(?3) choice LEFT JOIN cells ON cells.cell = choice.value
            ORDER BY ifnull(cells.accounts, 0), choice.value LIMIT 1), ?4
         WHERE true ON CONFLICT DO NOTHING`,
      )
      .bind(userNameKey, accountId, choices, now, leastNumber),
    client
      .prepare(
        `INSERT INTO cells (cell, accounts) SELECT cell, 1 FROM directory WHERE account_id = ?1 AND changes() = 1
         ON CONFLICT (cell) DO UPDATE SET accounts = accounts + 1`,
      )
      .bind(accountId),
    client
      .prepare(
        'SELECT number, account_id, cell FROM directory WHERE user_name_key = ?1 AND account_id = ?2',
      )
      .bind(userNameKey, accountId),
  ])
  const row = found?.results[0]
  return row ? { number: row.number, accountId: row.account_id, cell: row.cell } : null
}

/** The highest number that an account of this cell has, whatever the directory knows of it. */
export const highestNumber = async (db: Database): Promise<number> =>
  (await db.$client
    .prepare('SELECT max(number) AS number FROM accounts')
    .first<number>('number')) ?? 0

/** The account stands: it is no longer the sweep's to look after. */
export const confirmInDirectory = (db: Database, accountId: string) =>
  db.update(directory).set({ openingAt: null }).where(eq(directory.accountId, accountId))

export const findInDirectory = async (
  db: Database,
  accountId: string,
): Promise<Listed | undefined> => {
  const [row] = await db.select(listed).from(directory).where(eq(directory.accountId, accountId))
  return row
}

export const listDirectory = (db: Database, after: number, limit: number): Promise<Listed[]> =>
  db
    .select(listed)
    .from(directory)
    .where(gt(directory.number, after))
    .orderBy(asc(directory.number))
    .limit(limit)

export type AccountRow = Omit<typeof accounts.$inferSelect, 'nextExpiry' | 'seq'> & {
  ended: { day: string; count: number }[]
}

/** The accounts of one cell, each with what has ended since the day that its `used` is of: few rows, found by the index. */
export const readAccounts = async (db: Database, ids: string[]): Promise<AccountRow[]> => {
  const today = new Date(Date.now() + 86_400_000).toISOString().slice(0, 10)
  const rows = await db
    .select({
      ...getTableColumns(accounts),
      ended: sql<string>`(SELECT json_group_array(json_object('day', ends, 'count', n)) FROM (SELECT ends, count(*) n FROM devices
        WHERE account_id = accounts.id AND ends > accounts.day AND ends <= ${today} GROUP BY ends))`,
    })
    .from(accounts)
    .where(inArray(accounts.id, sql`(SELECT value FROM json_each(${JSON.stringify(ids)}))`))
  return rows.map(({ nextExpiry, seq, ended, ...row }) => ({
    ...row,
    ended: JSON.parse(ended) as AccountRow['ended'],
  }))
}

/**
 * The accounts of a cell by number and id, whether the directory or the cell itself knows of them: after a restore either may have
 * forgotten, and two may have come by one number.
 */
export const listCell = async (
  directoryDb: Database,
  cellDb: Database,
  cell: number,
  [number, id]: [number, string],
  limit: number,
): Promise<{ number: number; id: string }[]> => {
  const [listedThere, heldHere] = await Promise.all([
    directoryDb
      .select({ number: directory.number, id: directory.accountId })
      .from(directory)
      .where(and(eq(directory.cell, cell), sql`(number, account_id) >= (${number}, ${id})`))
      .orderBy(asc(directory.number))
      .limit(limit),
    cellDb
      .select({ number: accounts.number, id: accounts.id })
      .from(accounts)
      .where(sql`(number, id) >= (${number}, ${id})`)
      .orderBy(asc(accounts.number), asc(accounts.id))
      .limit(limit),
  ])
  const all = new Map([...listedThere, ...heldHere].map((entry) => [entry.id, entry]))
  return [...all.values()]
    .sort((a, b) => a.number - b.number || (a.id < b.id ? -1 : 1))
    .slice(0, limit)
}

/** An account that its ledger has erased and a restored database has brought back: it goes again. Answers whether there was one. */
export const eraseAgain = async (
  directoryDb: Database,
  cellDb: Database,
  accountId: string,
  cell: number,
  now: number,
): Promise<boolean> => {
  const [gone] = await cellDb.$client.batch([
    cellDb.$client.prepare('DELETE FROM accounts WHERE id = ?').bind(accountId),
    cellDb.$client
      .prepare(
        'INSERT INTO erasures (account_id, id, creation) VALUES (?1, ?1, ?2) ON CONFLICT DO NOTHING',
      )
      .bind(accountId, now),
  ])
  const client = directoryDb.$client
  const [unlisted] = await client.batch([
    client.prepare('DELETE FROM directory WHERE account_id = ?').bind(accountId),
    client
      .prepare('UPDATE cells SET accounts = accounts - 1 WHERE cell = ? AND changes() = 1')
      .bind(cell),
  ])
  return (gone?.meta.changes ?? 0) + (unlisted?.meta.changes ?? 0) > 0
}

/** Which cell holds an account that the directory may have forgotten. */
export const holdsAccount = async (db: Database, accountId: string): Promise<boolean> =>
  (await db.select({ id: accounts.id }).from(accounts).where(eq(accounts.id, accountId))).length > 0
