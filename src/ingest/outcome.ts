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
  differs === 1 ||
  (rest !== null && !sameJson(JSON.parse(rest), JSON.parse(String(row[REST_INDEX]))))

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
  const { day, time_zone: timeZone, retention_days: retentionDays } = state
  const today = currentDay({ day, timeZone }, values.now)
  const byPart = new Map(devices.map((device) => [device.part, device]))
  const active = new Map<number, DeviceRow>()
  const statuses = packed.map((rows, part): Status[] => {
    const device = byPart.get(part)
    const isActive = device && !hasEnded(device.ends, today)
    if (isActive) active.set(part, device)
    const status = !device ? 'unknown' : isActive ? 'accepted' : 'refused'
    return rows.map((row) => (isActive && incredible?.has(row) ? 'quarantined' : status))
  })
  const ofActive = sent.filter(({ part }) => active.has(part))
  if (ofActive.length === accepted) return statuses
  const since = keptSince(values.now, retentionDays)
  const kept = ofActive.filter(({ row }) => (row[0] as number) >= since)
  const { selectStored } = isOne ? OF_ONE : OF_MANY
  const rows = kept.length > accepted ? await readAll(selectStored(db, values)) : []
  const stored = new Map(rows.map((row) => [row.index, row]))
  const fresh = new Set<string>()
  for (const [index, { part, at, row }] of sent.entries()) {
    const device = active.get(part)
    const own = statuses[part]
    if (!device || !own) continue
    const time = row[0] as number
    const known = stored.get(index)
    const key = `${device.key} ${time}`
    if (time < since) own[at] = 'tooOld'
    else if (known && isConflict(known, row)) own[at] = 'conflict'
    else if (known?.is_new === 0 || fresh.has(key) || fresh.size === accepted) own[at] = 'duplicate'
    else fresh.add(key)
  }
  return statuses
}
