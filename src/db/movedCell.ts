import { and, eq, inArray, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { MoveState } from '../domain/admin/move.ts'
import { cellBinding, type Env } from '../env.ts'
import { type Database, openCell, withRetries } from './open.ts'
import { movedAccounts } from './schema.ts'
import { textOf } from './transient.ts'

/* Where an account is that has moved, or moves, to another cell. `src/move/` moves them. */

/** The cell refused a write, because the account is frozen or is in another cell. */
export const isMoving = (error: unknown): boolean =>
  error instanceof Error && textOf(error).includes('account-moving')

const ELSEWHERE: MoveState[] = ['moved', 'left', 'arriving', 'landing']
const STATES = sql.raw(ELSEWHERE.map((state) => `'${state}'`).join(', '))

/** The other cell, if the account is there and not in this one. */
export const otherCellOf = (accountId: SQLWrapper) => sql<number | null>`(
  SELECT ${movedAccounts.cell} FROM ${movedAccounts}
  WHERE ${movedAccounts.accountId} = ${accountId} AND ${movedAccounts.state} IN (${STATES}))`

/** Whether the account is in this cell: the sweep passes over rows that come or go. */
export const isHere = (accountId: SQLWrapper): SQL => sql`NOT EXISTS (
  SELECT 1 FROM ${movedAccounts}
  WHERE ${movedAccounts.accountId} = ${accountId} AND ${movedAccounts.state} IN (${STATES}))`

export const findMoved = (db: Database, accountId: string) =>
  db.select().from(movedAccounts).where(eq(movedAccounts.accountId, accountId)).get()

/** More than an account can have moved while something still names its first cell. */
const MAX_HOPS = 20

/**
 * The cell of an account that something names a cell of. The row in the cell that it leaves decides:
 * whoever finds it there may go on, even if the move itself was interrupted in between.
 */
export const resolveCell = async (env: Env, accountId: string, named: number): Promise<number> => {
  let cell = named
  for (let hops = 0; hops < MAX_HOPS && cellBinding(env, cell); hops++) {
    const db = withRetries(openCell(env, cell))
    const row = await findMoved(db, accountId)
    if (!row || !ELSEWHERE.includes(row.state)) return cell
    if (row.state === 'landing') {
      const before = await findMoved(withRetries(openCell(env, row.cell)), accountId)
      if (before?.cell === cell && before.state === 'moved') {
        await land(db, accountId)
        return cell
      }
    }
    cell = row.cell
  }
  return cell
}

/** Ends the freeze in the cell that the account has come to. */
export const land = (db: Database, accountId: string) =>
  db
    .update(movedAccounts)
    .set({ state: 'arrived' })
    .where(and(eq(movedAccounts.accountId, accountId), eq(movedAccounts.state, 'landing')))

/**
 * Finds in a cell, or else in the cells that accounts have moved to from there: for links, which name
 * a cell and no account.
 */
export const findInCells = async <T extends { accountId: string }>(
  env: Env,
  cell: number,
  find: (db: Database, cell: number) => Promise<T | null>,
): Promise<{ found: T; db: Database; cell: number } | null> => {
  const seen = new Set<number>()
  const cells = [cell]
  for (const next of cells) {
    if (seen.has(next) || !cellBinding(env, next)) continue
    seen.add(next)
    const db = openCell(env, next)
    const found = await find(db, next)
    const actual = found && (await resolveCell(env, found.accountId, next))
    if (found && actual === next) return { found, db, cell: next }
    const others = await withRetries(db)
      .selectDistinct({ cell: movedAccounts.cell })
      .from(movedAccounts)
      .where(inArray(movedAccounts.state, ELSEWHERE))
    cells.push(...(actual === null ? [] : [actual]), ...others.map((other) => other.cell))
  }
  return null
}
