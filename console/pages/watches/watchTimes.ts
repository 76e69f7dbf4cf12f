import type { Watch } from '../../api/types.ts'
import { later } from '../../text/later.ts'
import { isRunning } from './watches.ts'

/* Deadlines of check-ins, as times that are left or have passed. */

const MINUTE_MS = 60_000
const HOUR_MINUTES = 60
const DAY_MINUTES = 24 * HOUR_MINUTES

/** In the two largest units, rounded down: "2 days 3 h", "6 h", "45 min". */
export const formatMinutes = (total: number): string => {
  const { days, hours, minutes } = later.watches.spans
  const parts = [
    [Math.floor(total / DAY_MINUTES), days],
    [Math.floor((total % DAY_MINUTES) / HOUR_MINUTES), hours],
    [Math.floor(total % HOUR_MINUTES), minutes],
  ] as const
  const first = parts.findIndex(([count]) => count > 0)
  if (first < 0) return later.watches.soon
  return parts
    .slice(first, first + 2)
    .filter(([count]) => count > 0)
    .map(([count, format]) => format(count))
    .join(' ')
}

type Deadlined = Pick<Watch, 'state' | 'nextDue' | 'graceMinutes'>

interface Countdown {
  kind: 'ahead' | 'grace' | 'overdue'
  /** How long it is until the deadline or until the alert, or since the deadline. */
  minutes: number
}

/** Null for one that has ended. */
export const countdownOf = (watch: Deadlined, at: number): Countdown | null => {
  if (!isRunning(watch)) return null
  const left = (Date.parse(watch.nextDue) - at) / MINUTE_MS
  if (watch.state === 'overdue') return { kind: 'overdue', minutes: Math.max(0, -left) }
  if (left > 0) return { kind: 'ahead', minutes: left }
  return { kind: 'grace', minutes: Math.max(0, left + watch.graceMinutes) }
}

export const formatCountdown = ({ kind, minutes }: Countdown): string => {
  const span = formatMinutes(minutes)
  if (kind === 'ahead') return later.watches.left(span)
  return kind === 'grace' ? later.watches.grace(span) : later.watches.late(span)
}
