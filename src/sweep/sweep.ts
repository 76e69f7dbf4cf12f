import { openCell, openDirectory } from '../db/open.ts'
import { isNewCellSize } from '../domain/account/cell.ts'
import { cellNumbers, type Env } from '../env.ts'
import { continueMoves } from '../move/run.ts'
import { listMoves } from '../move/store.ts'
import { resealPushKeys } from '../notify/pushKeys.ts'
import { readCellSizes, saveCellSize, saveSweepRun } from '../service/store.ts'
import { resumeImports } from '../sources/unclaimed/resumeImports.ts'
import { settleAbandonedAccounts } from './abandonedAccounts.ts'
import { eraseDeleted, MAX_DELETED_QUERIES } from './deletion/deletedAccounts.ts'
import { MAX_ERASURE_QUERIES, runErasures } from './deletion/erasures.ts'
import { deleteOldRows, MAX_OLD_ROW_QUERIES } from './deletion/oldRows.ts'
import { enforceRetention, MAX_RETENTION_QUERIES } from './deletion/retention.ts'
import { MAX_EXPIRATION_QUERIES, recordExpirations } from './expirations.ts'
import { MAX_HISTORY_QUERIES, moveHistory } from './history/history.ts'
import { MAX_RAISE_QUERIES, raiseLeftovers } from './pendingRaises.ts'
import { type CellRun, QueryBudget, rotateCells, runPart } from './run.ts'
import { MAX_SANDBOX_QUERIES, runSandboxes } from './sandboxes.ts'
import { findSilence, MAX_SILENCE_QUERIES } from './silence/silence.ts'
import { closeMonths, MAX_MONTH_QUERIES } from './usageMonths.ts'
import { checkWatches, MAX_WATCH_QUERIES } from './watches.ts'

interface Part {
  name: string
  maxQueries: number
  work: (run: CellRun) => Promise<void>
}

/** The parts that a run has tried in a cell. Those of the whole service count for cell 0. */
interface Tried {
  succeeded: string[]
  failed: string[]
}

const tryPart = async (tried: Tried, part: string, cell: number, work: () => Promise<unknown>) => {
  const isDone = await runPart(part, { cell }, async () => {
    await work()
    return true
  })
  tried[isDone ? 'succeeded' : 'failed'].push(part)
}

const RECORD_QUERIES = 2

/**
 * Records that the sweep was in a cell, and the size of the cell in the directory, unless that has it
 * already as `storedBytes`. D1 tells the size with the result of any query.
 */
const recordRun = async (
  { env, cell, db }: Pick<CellRun, 'env' | 'cell' | 'db'>,
  tried: Tried,
  storedBytes: number | null,
): Promise<void> => {
  const { meta } = await saveSweepRun(db, tried, Date.now())
  if (isNewCellSize(storedBytes, meta.size_after))
    await saveCellSize(openDirectory(env), cell, meta.size_after)
}

/** Of one identifier: its batch, what is read before it, and what is deleted after it. */
const IMPORT_QUERIES = 30
const MAX_IMPORTS = 10

/** Moves reports of identifiers that were claimed, as far as the claim itself did not. */
const resumeClaims = async ({ take, ...run }: CellRun): Promise<void> => {
  if (take()) await resumeImports({ ...run, mayGoOn: () => take(IMPORT_QUERIES) })
}

/** For moves of accounts to other cells. */
const MOVE_QUERIES = 300

const PARTS: Part[] = [
  { name: 'pending-raises', maxQueries: MAX_RAISE_QUERIES, work: raiseLeftovers },
  { name: 'watches', maxQueries: MAX_WATCH_QUERIES, work: checkWatches },
  { name: 'silence', maxQueries: MAX_SILENCE_QUERIES, work: findSilence },
  { name: 'expirations', maxQueries: MAX_EXPIRATION_QUERIES, work: recordExpirations },
  { name: 'old-rows', maxQueries: MAX_OLD_ROW_QUERIES, work: deleteOldRows },
  { name: 'retention', maxQueries: MAX_RETENTION_QUERIES, work: enforceRetention },
  { name: 'claims', maxQueries: 1 + MAX_IMPORTS * IMPORT_QUERIES, work: resumeClaims },
  { name: 'usage-months', maxQueries: MAX_MONTH_QUERIES, work: closeMonths },
  { name: 'sandboxes', maxQueries: MAX_SANDBOX_QUERIES, work: runSandboxes },
  { name: 'deleted-accounts', maxQueries: MAX_DELETED_QUERIES, work: eraseDeleted },
  { name: 'erasures', maxQueries: MAX_ERASURE_QUERIES, work: runErasures },
  { name: 'history', maxQueries: MAX_HISTORY_QUERIES, work: moveHistory },
]

/**
 * What the cron trigger runs each minute, in bounded pages: it records what has expired, finds missed
 * check-ins and silent devices, hands over what a crash left, and deletes what is no longer kept. No
 * license or limit waits for it, and of emergencies only missed check-ins. Two runs at once do no harm.
 */
export const sweep = async (env: Env, now: number): Promise<void> => {
  const directory = openDirectory(env)
  const ofService: Tried = { succeeded: [], failed: [] }
  await tryPart(ofService, 'abandoned-accounts', 0, () =>
    settleAbandonedAccounts(env, directory, now),
  )
  await tryPart(ofService, 'push-keys', 0, () => resealPushKeys(env))
  const sizes = await runPart('cell-sizes', { cell: 0 }, () => readCellSizes(directory))
  const queries = new QueryBudget()
  const cells = rotateCells(cellNumbers(env), now)
  const moving = (await runPart('moves', { cell: 0 }, () => listMoves(directory, now))) ?? []
  if (moving.length > 0) queries.setAside(MOVE_QUERIES, cells.length)
  const slow: (() => Promise<void>)[] = []
  for (const [index, cell] of cells.entries()) {
    if (!queries.startCell(index, cells.length)) break
    // Taken first: the parts may use up what is left.
    queries.part(RECORD_QUERIES)(RECORD_QUERIES)
    const later: CellRun['later'] = (work) => slow.push(work)
    const run = { env, cell, db: openCell(env, cell), now, later }
    const tried: Tried = cell === 0 ? ofService : { succeeded: [], failed: [] }
    for (const { name, maxQueries, work } of PARTS)
      await tryPart(tried, name, cell, () => work({ ...run, take: queries.part(maxQueries) }))
    await runPart('record', { cell }, () => recordRun(run, tried, sizes?.get(cell) ?? null))
  }
  for (const work of slow) await work()
  await runPart('moves', { cell: 0 }, () => continueMoves(env, moving, queries.takeRest()))
}
