import type { Database } from '../db/open.ts'
import { cells } from '../db/schema.ts'

/** The sizes of the cells, as the sweep has found them. Throws when the directory is unreachable. */
export const readCellSizes = async (db: Database): Promise<Map<number, number | null>> => {
  const rows = await db.select({ cell: cells.cell, sizeBytes: cells.sizeBytes }).from(cells)
  return new Map(rows.map(({ cell, sizeBytes }) => [cell, sizeBytes]))
}

export const saveCellSize = (db: Database, cell: number, sizeBytes: number) =>
  db
    .insert(cells)
    .values({ cell, sizeBytes })
    .onConflictDoUpdate({ target: cells.cell, set: { sizeBytes } })
