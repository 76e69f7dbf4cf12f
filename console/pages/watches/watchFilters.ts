import type { Watch } from '../../api/types.ts'
import { fold } from '../../format/fold.ts'
import { isRunning } from './watches.ts'

/* Which check-ins the page shows. The address of the page has the choice. */

export const SHOWS = ['running', 'overdue', 'completed', 'cancelled', 'all'] as const
export type Show = (typeof SHOWS)[number]

interface WatchFilters {
  show: Show
  name: string
  device: string
}

/** The address can say anything; only a known choice counts. */
export const readWatchFilters = (query: URLSearchParams): WatchFilters => {
  const given = query.get('show') as Show
  return {
    show: SHOWS.includes(given) ? given : 'running',
    name: query.get('name') ?? '',
    device: query.get('device') ?? '',
  }
}

/** Overdue ones are running, too. */
export const isShown = (watch: Watch, { show, name, device }: WatchFilters): boolean =>
  (show === 'all' || (show === 'running' ? isRunning(watch) : watch.state === show)) &&
  (device === '' || watch.deviceId === device) &&
  fold(watch.name).includes(fold(name))
