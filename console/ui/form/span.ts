import { DAY_MS, HOUR_MS, MINUTE_MS } from '../../format/time.ts'

/* A time span that a reader chooses: the last hours or days, or any two times. */

export const SPAN_NAMES = ['24h', '7d', '30d', 'custom'] as const

export interface ChosenSpan {
  name: (typeof SPAN_NAMES)[number]
  /** Instants, used where the name is `custom`. */
  from: string
  to: string
}

const LENGTH_MS = { '24h': DAY_MS, '7d': 7 * DAY_MS, '30d': 30 * DAY_MS } as const
/** An hour more: a month may have a day of 25 hours. */
const MAX_MS = 31 * DAY_MS + HOUR_MS
/** Ends a little in the future, since the clocks of devices may be ahead. */
export const AHEAD_MS = 10 * MINUTE_MS

export const lastSpan = (name: Exclude<ChosenSpan['name'], 'custom'>, now: number): ChosenSpan => ({
  name,
  from: new Date(now - LENGTH_MS[name]).toISOString(),
  to: new Date(now + AHEAD_MS).toISOString(),
})

export const spanFault = ({ from, to }: ChosenSpan): 'notAfter' | 'tooLong' | null => {
  const length = Date.parse(to) - Date.parse(from)
  if (!(length > 0)) return 'notAfter'
  return length > MAX_MS ? 'tooLong' : null
}
