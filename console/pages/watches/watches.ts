import type { Watch } from '../../api/types.ts'

/* Check-ins, which the API calls watches. */

/** The most urgent first. */
const STATES: readonly Watch['state'][] = ['overdue', 'active', 'completed', 'cancelled']
export const WATCH_COUNTS: readonly Watch['counts'][] = ['any', 'message', 'checkIn']

/** Whether it still waits for a check-in. */
export const isRunning = ({ state }: Pick<Watch, 'state'>): boolean =>
  state === 'active' || state === 'overdue'

/** Overdue ones first, then those that are due next; of those that ended, the latest first. */
export const sortWatches = (watches: readonly Watch[]): Watch[] =>
  watches.toSorted(
    (a, b) =>
      STATES.indexOf(a.state) - STATES.indexOf(b.state) ||
      (Date.parse(a.nextDue) - Date.parse(b.nextDue)) * (isRunning(a) ? 1 : -1),
  )
