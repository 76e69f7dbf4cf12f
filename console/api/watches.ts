import { readAll } from './list.ts'
import type { Watch } from './watchTypes.ts'

/* Check-ins, which the API calls watches. */

/** The most urgent first. */
export const WATCH_STATES = ['overdue', 'active', 'completed', 'cancelled'] as const
export const WATCH_COUNTS = ['any', 'message', 'checkIn'] as const

/** Whether it still waits for a check-in. */
export const isRunning = ({ state }: Pick<Watch, 'state'>): boolean =>
  state === 'active' || state === 'overdue'

/** Overdue ones first, then those that are due next; of those that ended, the latest first. */
export const sortWatches = (watches: readonly Watch[]): Watch[] =>
  watches.toSorted(
    (a, b) =>
      WATCH_STATES.indexOf(a.state) - WATCH_STATES.indexOf(b.state) ||
      (Date.parse(a.nextDue) - Date.parse(b.nextDue)) * (isRunning(a) ? 1 : -1),
  )

/** All of them: an account has at most 1000, which is one page. */
export const readWatches = async (signal?: AbortSignal): Promise<Watch[]> =>
  sortWatches(await readAll('GET /api/watches', 'watches', { signal }))
