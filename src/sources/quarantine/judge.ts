import type { Database } from '../../db/open.ts'
import { findFault, judgeFixes } from '../../domain/track/credible.ts'
import type { Location } from '../../domain/track/location.ts'
import { readNeighbours, type Surroundings } from './quarantine.ts'
import type { Quarantined } from './quarantineInsert.ts'

/* Decides which fixes of sources are stored, and which are kept apart. */

/** A fix is judged by the time at which it arrived. */
export interface SentFix {
  location: Location
  receivedAt: number
}

export interface Judged {
  accepted: Location[]
  quarantined: Quarantined[]
}

const judgeDevice = (sent: SentFix[], read: (Surroundings | undefined)[]): Judged => {
  const [known] = read.flatMap((one) => one ?? [])
  if (!known) return { accepted: sent.map(({ location }) => location), quarantined: [] }
  const { device } = known
  const quarantined: Quarantined[] = []
  // Repeats of what is in the track are duplicates, also of what was released from quarantine.
  const repeated: Location[] = []
  const credible = sent.flatMap(({ location, receivedAt }, at) => {
    if (read[at]?.isStored) {
      repeated.push(location)
      return []
    }
    const reason = findFault(location, receivedAt)
    const neighbours = read[at]?.neighbours
    if (reason) quarantined.push({ device, location, reason, receivedAt })
    return reason || !neighbours ? [] : [{ fix: location, neighbours }]
  })
  const arrivals = new Map(sent.map(({ location, receivedAt }) => [location, receivedAt]))
  const { accepted, tooFast } = judgeFixes(credible, device.maxSpeed)
  for (const location of tooFast)
    quarantined.push({
      device,
      location,
      reason: 'speed',
      receivedAt: arrivals.get(location) ?? 0,
    })
  return { accepted: [...repeated, ...accepted], quarantined }
}

/** Judges the fixes of each device exactly, beside its accepted ones. Reads them all at once. */
export const judgeReports = async (
  db: Database,
  accountId: string,
  reports: { deviceId: string; fixes: SentFix[] }[],
): Promise<Judged[]> => {
  const named = reports.flatMap(({ deviceId, fixes }) =>
    fixes.map(({ location }) => ({ deviceId, location })),
  )
  const read = named.length > 0 ? await readNeighbours(db, accountId, named) : []
  let from = 0
  return reports.map(({ fixes }) => {
    const own = read.slice(from, from + fixes.length)
    from += fixes.length
    return judgeDevice(fixes, own)
  })
}
