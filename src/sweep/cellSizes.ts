import { sql } from 'drizzle-orm'
import { openDirectory } from '../db/open.ts'
import { statement } from '../db/statement.ts'
import { isNewCellSize } from '../domain/account/cell.ts'
import { saveCellSize } from '../service/store.ts'
import type { CellRun } from './run.ts'

export const MAX_SIZE_QUERIES = 2

/**
 * Records the size of a cell in the directory, unless that has it already as `storedBytes`. D1 tells
 * the size with the result of any query.
 */
export const recordCellSize = async (
  { env, cell, db, take }: CellRun,
  storedBytes: number | null,
): Promise<void> => {
  if (!take(MAX_SIZE_QUERIES)) return
  const { meta } = await statement(db, sql`SELECT 1`).run()
  if (isNewCellSize(storedBytes, meta.size_after))
    await saveCellSize(openDirectory(env), cell, meta.size_after)
}
