import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { type PackedLocation, rowOfPacked, unpackLocation } from '../../db/queries/locations.ts'
import { quarantine } from '../../db/schema.ts'
import { valuesOf } from '../../db/statement.ts'

/* Locations of sources that cannot be true. */

/** Returns how many there were. */
export const deleteQuarantined = async (
  db: Database,
  deviceKey: number,
  ids: string[],
): Promise<number> => {
  const deleted = await db
    .delete(quarantine)
    .where(and(eq(quarantine.deviceKey, deviceKey), sql`${quarantine.id} IN ${valuesOf(ids)}`))
    .returning({ id: quarantine.id })
  return deleted.length
}

/** The location of an entry, with the time at which it arrived. */
export const locationOf = ({ packed, receivedAt }: typeof quarantine.$inferSelect) =>
  unpackLocation(rowOfPacked(JSON.parse(packed) as PackedLocation, receivedAt))

/** Newest arrivals first, those before `before`. */
export const listQuarantine = async (
  db: Database,
  deviceKey: number,
  before: [receivedAt: number, id: string],
  limit: number,
) => {
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
  return rows.map((row) => ({ id: row.id, reason: row.reason, location: locationOf(row) }))
}
