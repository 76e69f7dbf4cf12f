import { and, desc, eq, sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { auditWrite } from '../../db/queries/audit.ts'
import { type PackedLocation, rowOfPacked, unpackLocation } from '../../db/queries/locations.ts'
import { quarantine } from '../../db/schema.ts'
import { runBatch, valuesOf } from '../../db/statement.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import type { ServiceContext } from '../../serviceContext.ts'

/* Locations of sources that cannot be true. */

interface QuarantineEnd {
  device: { key: number; id: string }
  ids: string[]
  action: 'device.quarantineReleased' | 'device.quarantineDiscarded'
}

/** Returns how many there were. */
export const deleteQuarantined = async (
  { db, accountId, now }: Pick<ServiceContext, 'db' | 'accountId' | 'now'>,
  { device, ids, action }: QuarantineEnd,
): Promise<number> => {
  const resource = { type: 'device', id: device.id }
  const changes = changesBetween(null, { locations: ids.length })
  const { deleted } = await runBatch(db, {
    deleted: db
      .delete(quarantine)
      .where(and(eq(quarantine.deviceKey, device.key), sql`${quarantine.id} IN ${valuesOf(ids)}`))
      .returning({ id: quarantine.id }),
    audited: auditWrite(db, { accountId, now: now(), action, resource, changes }),
  })
  return deleted.results.length
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
