import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { statement } from '../db/statement.ts'
import { isNewCellSize } from '../domain/cell.ts'
import { saveCellSize } from '../service/store.ts'

interface Cell {
  cell: number
  db: Database
  /** The size that the directory has. */
  storedBytes: number | null
}

/** Records the size of a cell in the directory. D1 tells it with the result of any query. */
export const recordCellSize = async (
  directory: Database,
  { cell, db, storedBytes }: Cell,
): Promise<void> => {
  const { meta } = await statement(db, sql`SELECT 1`).run()
  if (isNewCellSize(storedBytes, meta.size_after))
    await saveCellSize(directory, cell, meta.size_after)
}
