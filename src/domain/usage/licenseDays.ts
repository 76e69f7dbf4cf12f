import { addDays, type Day, dayStart, daysBetween } from '../time/day.ts'

/** What the license log needs to say of a line: how many licenses were in use after it. */
export interface LicenseLine {
  time: number
  what: 'granted' | 'released' | 'expired' | 'refused' | 'total-changed' | 'zone-changed'
  /** When the line was written, which of an expiry may be later than its time. */
  used: number
}

export interface DaySpan {
  from: Day
  /** The last day. */
  to: Day
}

export const daysOf = ({ from, to }: DaySpan): Day[] =>
  Array.from({ length: Math.max(0, daysBetween(from, to) + 1) }, (_, index) => addDays(from, index))

const CHANGES: Partial<Record<LicenseLine['what'], number>> = {
  granted: 1,
  released: -1,
  expired: -1,
}

/** A change of zone may end and revive many devices; their expiries are written before it. */
const countAfter = (count: number, { what, used }: LicenseLine): number =>
  what === 'zone-changed' ? used : count + (CHANGES[what] ?? 0)

/** The licenses in use before the first line, by the first one that was written at its time. */
const countBefore = (lines: readonly LicenseLine[], used: number): number => {
  let change = 0
  for (const line of lines) {
    change += CHANGES[line.what] ?? 0
    if (line.what !== 'expired') return line.used - change
  }
  return used - change
}

/**
 * The lines that the days from `start` on need, from lines that begin with the newest: the last is one
 * before `start` that says how many licenses were in use. A line at the time of an expiry may not say
 * so: it is passed over. `pending`: expiries that are not in the log yet.
 */
export const linesSince = (
  newestFirst: Iterable<LicenseLine>,
  pending: readonly LicenseLine[],
  start: number,
): LicenseLine[] => {
  const found: LicenseLine[] = []
  const expiryTimes = new Set(pending.map(({ time }) => time))
  for (const line of newestFirst) {
    found.push(line)
    if (line.what === 'expired') expiryTimes.add(line.time)
    else if (line.time < start && !expiryTimes.has(line.time)) break
  }
  // Stable: what happened at the same time stays in the order of the log.
  return [...found.reverse(), ...pending].sort((a, b) => a.time - b.time)
}

/**
 * The highest number of licenses in use at the same time, of each local day. The lines are in the
 * order of their times and then of their sequence; `used` is the number after the last.
 */
export const peakLicenses = (
  { lines, used }: { lines: readonly LicenseLine[]; used: number },
  { from, to, timeZone }: DaySpan & { timeZone: string },
): number[] => {
  let count = countBefore(lines, used)
  let next = 0
  /** Lines of one instant count together: an expiry frees the license that another gets then. */
  const peakUntil = (end: number): number => {
    let peak = count
    for (let line = lines[next]; line && line.time < end; line = lines[next]) {
      count = countAfter(count, line)
      if (lines[++next]?.time !== line.time) peak = Math.max(peak, count)
    }
    return peak
  }
  return daysOf({ from, to }).map((day) => {
    const [start, end] = [dayStart(day, timeZone), dayStart(addDays(day, 1), timeZone)]
    peakUntil(start + 1)
    // Zones have skipped whole days, such as Apia's 2011-12-30.
    return start < end ? peakUntil(end) : 0
  })
}
