import { eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { sweepPositions } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { logFailure } from '../log.ts'

/** Takes queries from a budget; false when there are not enough, and the work has to wait. */
export type TakeQueries = (count?: number) => boolean

/** One part of the sweep in one cell. */
export interface CellRun {
  env: Env
  cell: number
  db: Database
  now: number
  take: TakeQueries
  /** Runs slow work after all parts of all cells, which do not wait for it. */
  later: (work: () => Promise<void>) => void
}

/** D1 allows a thousand queries per invocation. The rest is for those that are not counted. */
const MAX_QUERIES = 950
/** Enough for every part in a cell that has devices, rules about silence and nothing to delete. */
export const CELL_QUERIES = 50
/** How many cells surely get `CELL_QUERIES` in one run. */
export const CELLS_PER_RUN = Math.floor(MAX_QUERIES / CELL_QUERIES)

/** How many D1 queries a run of the sweep may still make. Every statement of a batch counts. */
export class QueryBudget {
  #left = MAX_QUERIES
  #reserved = 0
  #aside = 0

  /**
   * Starts the next cell and reserves `CELL_QUERIES` for each of the first cells that follow, so
   * that one cell cannot take it all. False when too little is left for this cell.
   */
  startCell(index: number, cells: number): boolean {
    this.#reserved = Math.max(0, Math.min(cells, CELLS_PER_RUN) - index - 1) * CELL_QUERIES
    return this.#left - this.#reserved >= CELL_QUERIES
  }

  /** Sets some aside for work at the end, if the cells of a run need no more than the others. */
  setAside(max: number, cells: number): void {
    this.#aside = Math.max(0, Math.min(max, MAX_QUERIES - cells * CELL_QUERIES))
    this.#left -= this.#aside
  }

  /** What was set aside, and what nobody has used. */
  takeRest(): number {
    const rest = this.#left + this.#aside
    this.#left = this.#aside = 0
    return rest
  }

  /** For one part of the work, which may take at most `max`. */
  part(max: number): TakeQueries {
    let left = max
    return (count = 1) => {
      if (left < count || this.#left - this.#reserved < count) return false
      left -= count
      this.#left -= count
      return true
    }
  }
}

const MINUTE_MS = 60_000

/**
 * Starts with other cells each minute. Those that one run may not reach are among the first
 * `CELLS_PER_RUN` of the next one.
 */
export const rotateCells = (cells: number[], now: number): number[] => {
  const step = cells.length > CELLS_PER_RUN ? CELLS_PER_RUN : 1
  const start = (Math.floor(now / MINUTE_MS) * step) % cells.length
  return [...cells.slice(start), ...cells.slice(0, start)]
}

/** How far a part has come in a cell; 0 where the next run begins anew. */
export const readPosition = async (db: Database, part: string): Promise<number> => {
  const found = await db
    .select({ position: sweepPositions.position })
    .from(sweepPositions)
    .where(eq(sweepPositions.part, part))
    .get()
  return found?.position ?? 0
}

/** Stores how far a part has come in a cell, for the next run. */
export const savePosition = (db: Database, part: string, position: number) =>
  db
    .insert(sweepPositions)
    .values({ part, position })
    .onConflictDoUpdate({ target: sweepPositions.part, set: { position } })

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
