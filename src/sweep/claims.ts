import { resumeImports } from '../sources/resumeImports.ts'
import type { CellRun } from './run.ts'

/** For one look, and up to 20 identifiers with their reports. */
export const MAX_CLAIM_QUERIES = 201
const QUERIES = 10

/** Moves reports of identifiers that were claimed, as far as the claim itself did not. */
export const resumeClaims = async ({ env, cell, db, take }: CellRun): Promise<void> => {
  while (take()) {
    const moved = await resumeImports(env, cell, db)
    if (moved === 0 || !take(moved * QUERIES)) return
  }
}
