import { resumeImports } from '../sources/unclaimed/resumeImports.ts'
import type { CellRun } from './run.ts'

/** Of one identifier: its batch, what is read before it, and what is deleted after it. */
const QUERIES = 30
/** For one look, and up to 10 identifiers with their reports. */
export const MAX_CLAIM_QUERIES = 1 + 10 * QUERIES

/** Moves reports of identifiers that were claimed, as far as the claim itself did not. */
export const resumeClaims = async ({ take, ...run }: CellRun): Promise<void> => {
  if (take()) await resumeImports({ ...run, mayGoOn: () => take(QUERIES) })
}
