import { logFailure } from '../log.ts'
/** One that fails does not keep the others from running: the next minute tries it again. */
export const attempt = async (
  part: string,
  of: { cell?: number; account?: string },
  work: () => Promise<unknown>,
): Promise<void> => {
  try {
    await work()
  } catch (error) {
    logFailure('sweep-failed', error, { part, ...of })
  }
}
