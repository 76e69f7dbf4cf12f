import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { readCellSizes } from '../service/store.ts'
import { settleAbandonedAccounts } from './abandonedAccounts.ts'
import { MAX_SIZE_QUERIES, recordCellSize } from './cellSizes.ts'
import { rotateCells, selectCells } from './cells.ts'
import { MAX_CLAIM_QUERIES, resumeClaims } from './claims.ts'
import { MAX_ERASURE_QUERIES, runErasures } from './erasures.ts'
import { MAX_EXPIRATION_QUERIES, recordExpirations } from './expirations.ts'
import { deleteOldRows, MAX_OLD_ROW_QUERIES } from './oldRows.ts'
import { MAX_RAISE_QUERIES, raiseLeftovers } from './pendingRaises.ts'
import { QueryBudget } from './queryBudget.ts'
import { enforceRetention, MAX_RETENTION_QUERIES } from './retention.ts'
import { type CellRun, runPart } from './run.ts'
import { findSilence, MAX_SILENCE_QUERIES } from './silence.ts'

interface Part {
  name: string
  maxQueries: number
  work: (run: CellRun) => Promise<void>
}

const PARTS: Part[] = [
  { name: 'pending-raises', maxQueries: MAX_RAISE_QUERIES, work: raiseLeftovers },
  { name: 'silence', maxQueries: MAX_SILENCE_QUERIES, work: findSilence },
  { name: 'expirations', maxQueries: MAX_EXPIRATION_QUERIES, work: recordExpirations },
  { name: 'old-rows', maxQueries: MAX_OLD_ROW_QUERIES, work: deleteOldRows },
  { name: 'retention', maxQueries: MAX_RETENTION_QUERIES, work: enforceRetention },
  { name: 'claims', maxQueries: MAX_CLAIM_QUERIES, work: resumeClaims },
  { name: 'erasures', maxQueries: MAX_ERASURE_QUERIES, work: runErasures },
]

/**
 * What the cron trigger runs each minute, in bounded pages: it records what has expired, finds silent
 * devices, hands over what a crash left, and deletes what is no longer kept. No license, limit or
 * emergency waits for it. Two runs at once do no harm.
 */
export const sweep = async (env: Env, now: number): Promise<void> => {
  const directory = openDirectory(env)
  await runPart('abandoned-accounts', { cell: 0 }, () =>
    settleAbandonedAccounts(env, directory, now),
  )
  const sizes = await runPart('cell-sizes', { cell: 0 }, () => readCellSizes(directory))
  const queries = new QueryBudget()
  const cells = rotateCells(selectCells(cellNumbers(env), now), now)
  for (const [index, cell] of cells.entries()) {
    queries.reserveFor(cells.length - index - 1)
    const run = { env, cell, db: openCell(env, cell), now }
    const storedBytes = sizes?.get(cell) ?? null
    await runPart('cell-sizes', { cell }, () =>
      recordCellSize({ ...run, take: queries.part(MAX_SIZE_QUERIES) }, storedBytes),
    )
    for (const { name, maxQueries, work } of PARTS)
      await runPart(name, { cell }, () => work({ ...run, take: queries.part(maxQueries) }))
  }
}
