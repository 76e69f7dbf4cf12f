import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { packedFix } from '../../db/queries/fixes.ts'
import type { PackedLocation } from '../../db/queries/locations.ts'
import { quarantine } from '../../db/schema.ts'
import { valuesOf } from '../../db/statement.ts'
import { AGREEING_FIXES, countAgreeing } from '../../domain/track/credible.ts'
import { ingest } from '../../ingest/ingest.ts'
import type { Quarantined } from '../../ingest/quarantine.ts'
import type { ServiceContext } from '../../serviceContext.ts'
import { deleteQuarantined, locationOf } from './quarantine.ts'

/* Moves locations from the quarantine to the track, with the time at which they arrived. */

export interface Accepted {
  accepted: string[]
  /** They stay: their `dateTime` is taken by another location, or the device has expired. */
  conflicts: string[]
}

interface QuarantinedDevice {
  key: number
  id: string
}

const readAsked = (db: Database, { key }: QuarantinedDevice, ids: string[]) =>
  db
    .select()
    .from(quarantine)
    .where(and(eq(quarantine.deviceKey, key), sql`${quarantine.id} IN ${valuesOf(ids)}`))
    .orderBy(quarantine.time)

/** They are stored like any other location, but whether they are credible was decided. */
export const acceptQuarantined = async (
  context: ServiceContext,
  device: QuarantinedDevice,
  ids: string[],
): Promise<Accepted> => {
  const { db } = context
  const rows = await readAsked(db, device, ids)
  if (rows.length === 0) return { accepted: [], conflicts: [] }
  const arrivals = rows.map((row) => {
    const { receivedAt, ...location } = locationOf(row)
    return { location, receivedAt }
  })
  const contact = Math.max(...arrivals.map(({ receivedAt }) => receivedAt))
  const eventId = await context.newId('evt')
  const named = { deviceId: device.id, identifier: null, eventId, contact, arrivals }
  const { statuses } = await ingest(context, [named], { mayExceedBudget: true })
  const isStored = (at: number) =>
    statuses[0]?.[at] === 'accepted' || statuses[0]?.[at] === 'duplicate'
  const accepted = rows.flatMap(({ id }, at) => (isStored(at) ? [id] : []))
  const action = 'device.quarantineReleased'
  await deleteQuarantined(context, { device, ids: accepted, action })
  return { accepted, conflicts: rows.flatMap(({ id }, at) => (isStored(at) ? [] : [id])) }
}

/** How many of the newest are compared. */
const MAX_COMPARED = 100

/** The newest fixes that were too fast, if they agree with each other: the stored one was wrong. */
export const findAgreeing = async (
  db: Database,
  { key, maxSpeed }: Quarantined['device'],
): Promise<string[]> => {
  const rows = await db
    .select({ id: quarantine.id, packed: quarantine.packed })
    .from(quarantine)
    .where(and(eq(quarantine.deviceKey, key), eq(quarantine.reason, 'speed')))
    .orderBy(desc(quarantine.receivedAt), desc(quarantine.time))
    .limit(MAX_COMPARED)
  const fixes = rows.map(({ packed }) => packedFix(JSON.parse(packed) as PackedLocation))
  const count = countAgreeing(fixes, maxSpeed)
  return count < AGREEING_FIXES ? [] : rows.slice(0, count).map(({ id }) => id)
}

/** Three fixes in a row that agree with each other: then it was the stored one that was wrong. */
export const acceptAgreeing = async (
  context: ServiceContext,
  quarantined: Quarantined[],
): Promise<void> => {
  const fast = quarantined.filter(({ reason }) => reason === 'speed')
  for (const device of new Map(fast.map(({ device }) => [device.key, device])).values()) {
    const ids = await findAgreeing(context.db, device)
    if (ids.length > 0) await acceptQuarantined(context, device, ids)
  }
}
