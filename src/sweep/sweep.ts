import { openCell, openDirectory } from '../db/open.ts'
import { cellNumbers, type Env } from '../env.ts'
import { readCellSizes } from '../service/store.ts'
import { settleAbandonedAccounts } from './abandonedAccounts.ts'
import { recordCellSize } from './cellSizes.ts'
import { selectCells } from './cells.ts'
import { runErasures } from './erasures.ts'
import { recordExpirations } from './expirations.ts'
import { deleteOldRows } from './oldRows.ts'
import { enforceRetention } from './retention.ts'
import { runPart } from './runPart.ts'

/**
 * What the cron trigger runs each minute. No rule depends on it: it records what has expired and
 * deletes what is no longer kept, in bounded pages. Two runs at once do no harm.
 */
export const sweep = async (env: Env, now: number): Promise<void> => {
  const directory = openDirectory(env)
  await runPart('abandoned-accounts', { cell: 0 }, () =>
    settleAbandonedAccounts(env, directory, now),
  )
  const sizes = await readCellSizes(directory).catch(() => new Map<number, number | null>())
  for (const cell of selectCells(cellNumbers(env), now)) {
    const db = openCell(env, cell)
    const storedBytes = sizes.get(cell) ?? null
    await runPart('cell-size', { cell }, () => recordCellSize(directory, { cell, db, storedBytes }))
    await runPart('expirations', { cell }, () => recordExpirations(env, db, now))
    await runPart('erasures', { cell }, () => runErasures(env, db, now))
    await runPart('old-rows', { cell }, () => deleteOldRows(db, now))
    await runPart('retention', { cell }, () => enforceRetention(db, now))
  }
}
