import type { OutputRecord } from '../../domain/output/output.ts'
import type { AttemptResult } from '../webhooks/attempt.ts'

/** A failure after some of the records were sent: the next delivery has only the others. */
export const markProgress = (
  failed: AttemptResult,
  before: AttemptResult,
  { of, rest }: { of: OutputRecord[]; rest: OutputRecord[] },
): AttemptResult =>
  rest.length === of.length
    ? failed
    : { ...failed, sent: { result: before, rest: rest.map(({ sequence }) => sequence) } }
