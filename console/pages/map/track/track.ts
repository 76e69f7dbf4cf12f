import { call } from '../../../api/client.ts'
import type { Location } from '../../../api/types.ts'
import { DAY_MS, HOUR_MS } from '../../../format/time.ts'

/* The positions of a device in a time span. */

export type Span = '6h' | '24h' | '7d' | '30d' | 'custom'

const SPAN_MS: Record<Exclude<Span, 'custom'>, number> = {
  '6h': 6 * HOUR_MS,
  '24h': DAY_MS,
  '7d': 7 * DAY_MS,
  '30d': 30 * DAY_MS,
}

export const SPANS: readonly Span[] = ['6h', '24h', '7d', '30d', 'custom']

export interface Interval {
  from: string
  to: string
}

/** False where an end is no time, or is not after the beginning. */
export const isSpan = ({ from, to }: Interval): boolean => Date.parse(from) < Date.parse(to)

/** Ends a little in the future, since the clocks of devices may be ahead. */
const AHEAD_MS = 10 * 60_000

export const intervalOf = (query: URLSearchParams, now: number): Interval => {
  const span = (query.get('span') ?? '24h') as Span
  const [from, to] = [query.get('from') ?? '', query.get('to') ?? '']
  if (span === 'custom' && isSpan({ from, to }))
    return { from: new Date(from).toISOString(), to: new Date(to).toISOString() }
  const length = SPAN_MS[span === 'custom' ? '24h' : span] ?? DAY_MS
  return {
    from: new Date(now - length).toISOString(),
    to: new Date(now + AHEAD_MS).toISOString(),
  }
}

export const readTrack = async (
  deviceId: string,
  { from, to }: Interval,
  signal: AbortSignal,
): Promise<Location[]> => {
  const reply = await call('POST /api/devices/{deviceId}/locations', {
    params: { deviceId },
    body: { from, to },
    isQuery: true,
    signal,
  })
  return 'nextCursor' in reply ? (reply.locations ?? []) : []
}
