import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { type PackedLocation, rowOfPacked, unpackLocation } from '../../db/queries/locations.ts'
import { quarantine } from '../../db/schema.ts'
import { valuesOf } from '../../db/statement.ts'
import type { QuarantineReason } from '../../domain/account/source.ts'
import type { StoredLocation } from '../../domain/track/location.ts'

/* Locations of sources that cannot be true. */

/** Returns how many there were. */
export const deleteQuarantined = async (
  db: Database,
  deviceKey: number,
  ids: string[],
): Promise<number> => {
  const { meta } = await db
    .delete(quarantine)
    .where(and(eq(quarantine.deviceKey, deviceKey), sql`${quarantine.id} IN ${valuesOf(ids)}`))
  return meta.changes
}

export interface QuarantinedFix {
  id: string
  reason: QuarantineReason
  location: StoredLocation
  receivedAt: number
}

/** Newest arrivals first, those before `before`. */
export const listQuarantine = async (
  db: Database,
  deviceKey: number,
  before: [receivedAt: number, id: string],
  limit: number,
): Promise<QuarantinedFix[]> => {
  const rows = await db
    .select()
    .from(quarantine)
    .where(
      and(
        eq(quarantine.deviceKey, deviceKey),
        sql`(${quarantine.receivedAt}, ${quarantine.id}) < (${before[0]}, ${before[1]})`,
      ),
    )
    .orderBy(desc(quarantine.receivedAt), desc(quarantine.id))
    .limit(limit)
  return rows.map(({ id, reason, receivedAt, packed }) => ({
    id,
    reason: reason as QuarantineReason,
    location: unpackLocation(rowOfPacked(JSON.parse(packed) as PackedLocation, receivedAt)),
    receivedAt,
  }))
}
