import type { Database } from '../db/open.ts'
import { type PackedLocation, REST_INDEX } from '../db/queries/locations.ts'
import { readAll } from '../db/statement.ts'
import { keptSince } from '../domain/account/account.ts'
import { currentDay, hasEnded } from '../domain/account/license.ts'
import { sameJson } from '../domain/text/json.ts'
import type { Status } from './arrival.ts'
import type { Packed, Written } from './batch.ts'
import type { Incredible } from './credibility.ts'
import type { DeviceRow, StateRow } from './state.ts'
import { OF_MANY, OF_ONE, type StoredRow } from './statements.ts'

/* What became of each location. The stored ones are read only when some were not accepted. */

const isConflict = ({ differs, rest }: StoredRow, row: PackedLocation): boolean =>
  differs || (rest !== null && !sameJson(JSON.parse(rest), JSON.parse(String(row[REST_INDEX]))))

/**
 * An accepted location equals the stored one, so a conflict is never one of the accepted. Of several
 * that equal it, the first was accepted, if it is stored with its own arrival.
 */
export const findStatuses = async (
  db: Database,
  { rows: packed, isOne }: Packed,
  { sent, values, state, devices, accepted }: Written & { state: StateRow },
  incredible: Incredible | undefined,
): Promise<Status[][]> => {
  const { day, timeZone, retentionDays } = state
  const today = currentDay({ day, timeZone }, values.now)
  const byPart = new Map(devices.map((device) => [device.part, device]))
  const active = new Map<number, DeviceRow>()
  const statuses = packed.map((rows, part): Status[] => {
    const device = byPart.get(part)
    const isActive = device && !hasEnded(device.ends, today)
    if (isActive) active.set(part, device)
    const status = !device ? 'unknown' : isActive ? 'accepted' : 'refused'
    if (!isActive || !incredible?.size) return Array(rows.length).fill(status)
    return rows.map((row) => (incredible.has(row) ? 'quarantined' : status))
  })
  const ofActive = sent.filter((_, part) => active.has(part))
  if (ofActive.reduce((count, { length }) => count + length, 0) === accepted) return statuses
  const since = keptSince(values.now, retentionDays)
  const kept = ofActive.flat().filter(([time]) => (time as number) >= since)
  const { selectStored } = isOne ? OF_ONE : OF_MANY
  const rows = kept.length > accepted ? await readAll(selectStored(db, values)) : []
  const stored = new Map(rows.map((row) => [row.index, row]))
  const fresh = new Set<string>()
  let index = 0
  for (const [part, own] of packed.entries())
    for (const [at, row] of own.entries()) {
      if (incredible?.has(row)) continue
      const known = stored.get(index++)
      const device = active.get(part)
      if (!device) continue
      const key = `${device.key} ${row[0]}`
      const isKnown = known?.isNew === false || fresh.has(key) || fresh.size === accepted
      const status = statuses[part] as Status[]
      if ((row[0] as number) < since) status[at] = 'tooOld'
      else if (known && isConflict(known, row)) status[at] = 'conflict'
      else if (isKnown) status[at] = 'duplicate'
      else fresh.add(key)
    }
  return statuses
}
