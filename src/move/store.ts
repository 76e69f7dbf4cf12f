import { and, asc, eq, inArray, lte, notInArray, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { auditWrite } from '../db/queries/audit.ts'
import { insertSelect } from '../db/query.ts'
import { cells, moveChanges, movedAccounts, moves } from '../db/schema.ts'
import { runBatch } from '../db/statement.ts'
import { type MoveState, type MoveStep, START } from '../domain/admin/move.ts'

export type Move = typeof moves.$inferSelect

const OVER: MoveStep[] = ['done', 'cancelled']

/* In cell 0. */

export const findMove = (directory: Database, accountId: string): Promise<Move | undefined> =>
  directory.select().from(moves).where(eq(moves.accountId, accountId)).get()

interface NewMove {
  accountId: string
  fromCell: number
  toCell: number
  now: number
}

/** False while the account has a move that is not over. */
export const startMove = async (directory: Database, move: NewMove): Promise<boolean> => {
  const { accountId, fromCell, toCell, now } = move
  const row = { accountId, fromCell, toCell, step: 'copying', position: START } as const
  const resource = { type: 'account', id: accountId }
  const changes = [{ path: 'cell', from: fromCell, to: toCell }]
  const { started } = await runBatch(directory, {
    started: insertSelect(
      moves,
      { ...row, lease: '', leasedUntil: 0, creation: now, changed: now, fault: null },
      sql`WHERE true ON CONFLICT (account_id) DO UPDATE SET from_cell = excluded.from_cell,
        to_cell = excluded.to_cell, step = excluded.step, position = excluded.position, lease = '',
        leased_until = 0, creation = excluded.creation, changed = excluded.changed, fault = NULL
        WHERE ${moves.step} IN ('done', 'cancelled')`,
    ),
    audited: auditWrite(directory, {
      accountId: '',
      now,
      action: 'account.moveStarted',
      resource,
      changes,
    }),
  })
  return started.meta.changes > 0
}

/** Whoever works on it loses the lease. */
export const cancelMove = async (
  directory: Database,
  accountId: string,
  now: number,
): Promise<void> => {
  await runBatch(directory, {
    cancelled: directory
      .update(moves)
      .set({ step: 'cancelling', position: START, lease: '', leasedUntil: 0, changed: now })
      .where(and(eq(moves.accountId, accountId), inArray(moves.step, ['copying', 'catchingUp']))),
    audited: auditWrite(directory, {
      accountId: '',
      now,
      action: 'account.moveCancelled',
      resource: { type: 'account', id: accountId },
    }),
  })
}

const LEASE_MS = 60_000

/** Takes a move to work on; undefined while somebody else does, or when it is over. */
export const leaseMove = async (
  directory: Database,
  accountId: string,
  { lease, now }: { lease: string; now: number },
): Promise<Move | undefined> =>
  directory
    .update(moves)
    .set({ lease, leasedUntil: now + LEASE_MS })
    .where(
      and(
        eq(moves.accountId, accountId),
        lte(moves.leasedUntil, now),
        notInArray(moves.step, OVER),
      ),
    )
    .returning()
    .get()

/** Saves how far the move has come. False when another run has it by now. */
export const saveMove = async (
  directory: Database,
  { accountId, lease }: Move,
  changes: Partial<Pick<Move, 'step' | 'position' | 'leasedUntil' | 'fault' | 'changed'>>,
): Promise<boolean> => {
  const { meta } = await directory
    .update(moves)
    .set(changes)
    .where(and(eq(moves.accountId, accountId), eq(moves.lease, lease)))
  return meta.changes > 0
}

/** Accounts with rows in two cells, or soon. */
export const listMovingAccounts = async (directory: Database): Promise<Set<string>> => {
  const rows = await directory
    .select({ accountId: moves.accountId })
    .from(moves)
    .where(notInArray(moves.step, OVER))
  return new Set(rows.map(({ accountId }) => accountId))
}

export const deleteMove = (directory: Database, accountId: string) =>
  directory.delete(moves).where(eq(moves.accountId, accountId))

const MAX_MOVES = 3

/** The accounts whose moves nobody works on, the one that has waited longest first. */
export const listMoves = async (directory: Database, now: number): Promise<string[]> => {
  const rows = await directory
    .select({ accountId: moves.accountId })
    .from(moves)
    .where(and(notInArray(moves.step, OVER), lte(moves.leasedUntil, now)))
    .orderBy(asc(moves.changed))
    .limit(MAX_MOVES)
  return rows.map(({ accountId }) => accountId)
}

export const readCellSize = async (directory: Database, cell: number): Promise<number> =>
  (await directory.select().from(cells).where(eq(cells.cell, cell)).get())?.sizeBytes ?? 0

/* In the two cells of a move. */

interface Entry {
  accountId: string
  number: number
  cell: number
  state: MoveState
  lease: string
  now: number
}

/** Names the lease in a cell. `left` becomes the state given; others stay. */
export const enter = (db: Database, { now, ...entry }: Entry) =>
  db
    .insert(movedAccounts)
    .values({ ...entry, creation: now })
    .onConflictDoUpdate({
      target: movedAccounts.accountId,
      set: {
        lease: entry.lease,
        cell: entry.cell,
        state: sql`iif(${movedAccounts.state} = 'left', ${entry.state}, ${movedAccounts.state})`,
      },
    })

/** Names the lease where the cell knows of the move. */
export const renew = (db: Database, { accountId, lease }: Pick<Entry, 'accountId' | 'lease'>) =>
  db.update(movedAccounts).set({ lease }).where(eq(movedAccounts.accountId, accountId))

/** Milliseconds by the clock of the cell, which its triggers use as well. */
const CELL_NOW = sql`unixepoch('subsec') * 1000`

interface Transition {
  accountId: string
  lease: string
  from: MoveState[]
  to: MoveState
  /** For how long writes are refused. */
  freezeMs?: number
  /** Only while the freeze lasts. */
  whileFrozen?: boolean
}

/** False when the cell is in another state, or another run has the lease. */
export const changeState = async (db: Database, change: Transition): Promise<boolean> => {
  const { accountId, lease, from, to, freezeMs, whileFrozen = false } = change
  const until = freezeMs === undefined ? {} : { until: sql`${CELL_NOW} + ${freezeMs}` }
  const { meta } = await db
    .update(movedAccounts)
    .set({ state: to, ...until })
    .where(
      and(
        eq(movedAccounts.accountId, accountId),
        eq(movedAccounts.lease, lease),
        inArray(movedAccounts.state, from),
        whileFrozen ? sql`${movedAccounts.until} > ${CELL_NOW}` : undefined,
      ),
    )
  return meta.changes > 0
}

/** True when the account stays: nothing of it is frozen or recorded any more. */
export const leaveUnmoved = async (db: Database, accountId: string): Promise<boolean> => {
  const { kept } = await runBatch(db, {
    ended: db
      .delete(movedAccounts)
      .where(
        and(
          eq(movedAccounts.accountId, accountId),
          inArray(movedAccounts.state, ['copying', 'frozen']),
        ),
      ),
    kept: db.select().from(movedAccounts).where(eq(movedAccounts.accountId, accountId)),
  })
  return kept.results.length === 0
}

export const deleteMoved = (db: Database, accountId: string) =>
  db.delete(movedAccounts).where(eq(movedAccounts.accountId, accountId))

export const readChanges = (db: Database, accountId: string, limit: number) =>
  db
    .select()
    .from(moveChanges)
    .where(eq(moveChanges.accountId, accountId))
    .orderBy(asc(moveChanges.number))
    .limit(limit)

export const deleteChanges = (
  db: Database,
  accountId: string,
  upTo: number = Number.MAX_SAFE_INTEGER,
) =>
  db
    .delete(moveChanges)
    .where(and(eq(moveChanges.accountId, accountId), lte(moveChanges.number, upTo)))

/** Which of these rows have been written since the switch. */
export const findChanged = async (
  db: Database,
  { accountId, name, keys }: { accountId: string; name: string; keys: string[] },
): Promise<Set<string>> => {
  const rows = await db
    .selectDistinct({ key: moveChanges.key })
    .from(moveChanges)
    .where(
      and(
        eq(moveChanges.accountId, accountId),
        eq(moveChanges.name, name),
        sql`${moveChanges.key} IN (SELECT value FROM json_each(${JSON.stringify(keys)}))`,
      ),
    )
  return new Set(rows.map(({ key }) => key))
}
