import { findInDirectory } from '../admin/store.ts'
import { deletePage, MOVED_TABLES } from '../db/accountTables.ts'
import { findMoved } from '../db/movedCell.ts'
import { type Database, openCell, openDirectory, withCount } from '../db/open.ts'
import { isMoveOver, type MoveStep } from '../domain/admin/move.ts'
import type { Env } from '../env.ts'
import { log, logFailure } from '../log.ts'
import { reopenMonths } from '../usage/store.ts'
import { isOwn } from './rows.ts'
import * as steps from './steps.ts'
import * as store from './store.ts'

/* Runs a move from step to step, one run at a time, for as long as a run may last. */

const RUN_MS = 20_000
/** D1 allows a thousand queries per invocation; the request itself has made some. */
const MAX_QUERIES = 900
/** Between two looks at what is left: a page that is compared and corrected, and saving. */
const PAGE_QUERIES = 20
const ERASED_PAGE = 2000
/** Isolates read from the old cell until what they have cached expires, after 30 s at most. */
const STALE_READS_MS = 60_000

/** Deletes the account's rows in a cell. False when the time is over. */
const eraseRows = async (mover: steps.Mover, db: Database): Promise<boolean> => {
  const { position } = mover
  for (; position.table < MOVED_TABLES.length; position.table++) {
    const moved = MOVED_TABLES[position.table]
    if (!moved) break
    for (let hasMore = true; hasMore; position.erased++) {
      if (!mover.mayGoOn()) return false
      hasMore = await deletePage(db, moved.table, isOwn(moved, mover.account), ERASED_PAGE)
    }
  }
  return true
}

const erase = async (mover: steps.Mover): Promise<MoveStep | null> => {
  const { from, to, move, position } = mover
  const { accountId, lease } = move
  if (Date.now() < (position.switchedAt ?? 0) + STALE_READS_MS) return null
  if (!(await steps.isAnnounced(mover))) {
    await steps.announce(mover)
    if (!(await steps.isAnnounced(mover))) throw new Error('the directory has the old cell')
  }
  await store.changeState(from, { accountId, lease, from: ['moved'], to: 'left' })
  if (!(await eraseRows(mover, from))) return null
  await store.deleteChanges(from, accountId)
  await store.deleteMoved(to, accountId)
  await store.deleteChanges(to, accountId)
  await reopenMonths(to, accountId, Date.now())
  return 'done'
}

/** Deletes what was copied. The cell then sends callers to where the account is. */
const undo = async (mover: steps.Mover): Promise<MoveStep | null> => {
  const { from, to, move } = mover
  const { accountId, lease } = move
  await store.leaveUnmoved(from, accountId)
  if (!(await eraseRows(mover, to))) return null
  await store.changeState(to, { accountId, lease, from: ['arriving', 'landing'], to: 'left' })
  await store.deleteChanges(from, accountId)
  return 'cancelled'
}

/** The step that follows, or null when this one is not finished. */
const takeStep = async (mover: steps.Mover, isListed: boolean): Promise<MoveStep | null> => {
  switch (mover.move.step) {
    case 'copying':
      if (!isListed) return 'cancelling'
      return (await steps.copy(mover)) ? 'catchingUp' : null
    case 'catchingUp':
      if (!isListed && (await store.leaveUnmoved(mover.from, mover.move.accountId)))
        return 'cancelling'
      if (!(await steps.catchUp(mover)) || !(await steps.switchOver(mover))) return null
      await steps.announce(mover)
      return 'verifying'
    case 'verifying':
      return !isListed || (await steps.verify(mover)) ? 'erasing' : null
    case 'erasing':
      return erase(mover)
    default:
      return undo(mover)
  }
}

/** The account may have been erased meanwhile: the cells still know its number. */
const findNumber = async (from: Database, to: Database, accountId: string) =>
  ((await findMoved(from, accountId)) ?? (await findMoved(to, accountId)))?.number

/**
 * Works on a move for some seconds. What is left, another run continues. Returns how many queries it
 * has made.
 */
export const runMove = async (
  env: Env,
  accountId: string,
  maxQueries = MAX_QUERIES,
): Promise<number> => {
  let queries = 0
  const count = (db: Database) => withCount(db, () => queries++)
  const directory = count(openDirectory(env))
  const startedAt = Date.now()
  const lease = crypto.randomUUID()
  const move = await store.leaseMove(directory, accountId, { lease, now: startedAt })
  if (!move) return queries
  const { position } = move
  const save = async (leasedUntil = move.leasedUntil, fault: string | null = null) => {
    const saved = { step: move.step, position, leasedUntil, fault, changed: Date.now() }
    if (!(await store.saveMove(directory, move, saved))) throw new Error('the lease was lost')
  }
  try {
    const [from, to] = [count(openCell(env, move.fromCell)), count(openCell(env, move.toCell))]
    const listed = await findInDirectory(directory, accountId)
    const number = listed?.number ?? (await findNumber(from, to, accountId)) ?? 0
    const account = { accountId, number }
    const hasQueries = (needed: number) => queries + needed <= maxQueries
    const mayGoOn = (needed = PAGE_QUERIES) => Date.now() - startedAt < RUN_MS && hasQueries(needed)
    const may = { mayGoOn, hasQueries }
    const mover = { env, move, account, directory, from, to, position, ...may, save }
    await Promise.all([store.renew(from, move), store.renew(to, move)])
    while (!isMoveOver(move.step) && mayGoOn()) {
      const next = await takeStep(mover, listed !== null)
      if (next === null) break
      log('info', { event: 'move-step', account: accountId, step: next })
      move.step = next
      Object.assign(position, { table: 0, after: null })
      await save()
    }
    await save(0)
  } catch (error) {
    logFailure('move-failed', error, { account: accountId, step: move.step })
    await save(0, 'It failed and is tried again; the log has the reason.').catch(() => {})
  }
  return queries
}

/** Enough for a switch. */
const MIN_QUERIES = 200

/** Continues moves that other runs have left, for the sweep, with at most so many queries. */
export const continueMoves = async (
  env: Env,
  accountIds: string[],
  maxQueries: number,
): Promise<void> => {
  let left = Math.min(maxQueries, MAX_QUERIES)
  for (const accountId of accountIds)
    if (left >= MIN_QUERIES) left -= await runMove(env, accountId, left)
}
