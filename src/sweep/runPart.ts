import { logFailure } from '../log.ts'

/** Runs a part of the sweep. A failure is logged and stops no other part; the next run retries. */
export const runPart = async (
  part: string,
  where: { cell?: number; account?: string },
  work: () => Promise<unknown>,
): Promise<void> => {
  try {
    await work()
  } catch (error) {
    logFailure('sweep-failed', error, { part, ...where })
  }
}
