import type { Database } from '../db/open.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'
import type { TakeQueries } from './queryBudget.ts'

/** One part of the sweep in one cell. */
export interface CellRun {
  env: Env
  cell: number
  db: Database
  now: number
  take: TakeQueries
}

/**
 * Runs a part of the sweep. A failure is logged and stops no other part; the next run retries.
 * Returns undefined then.
 */
export const runPart = async <T>(
  part: string,
  where: { cell?: number; account?: string },
  work: () => Promise<T>,
): Promise<T | undefined> => {
  try {
    return await work()
  } catch (error) {
    logFailure('sweep-failed', error, { part, ...where })
    return undefined
  }
}
