import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import type { PackedLocation } from '../db/queries/locations.ts'
import { accounts, devices, locations, quarantine } from '../db/schema.ts'
import { literal, names, type Statement, statement, valuesOf } from '../db/statement.ts'
import { MAX_QUARANTINED, type QuarantineReason } from '../domain/account/source.ts'
import type { TrackDevice } from '../rules/evaluate/memory.ts'

/** A location that cannot be true, of a device that may report. */
export interface Quarantined {
  device: TrackDevice
  packed: PackedLocation
  reason: QuarantineReason
  receivedAt: number
}

const idOf = async ({ device, packed }: Quarantined): Promise<string> => {
  const bytes = new TextEncoder().encode(`quarantine ${device.key} ${packed[0]}`)
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes))
  return `qua_${digest.slice(0, 11).toHex()}`
}

const COLUMNS = names(
  quarantine.id,
  quarantine.accountId,
  quarantine.deviceKey,
  quarantine.time,
  quarantine.reason,
  quarantine.receivedAt,
  quarantine.packed,
)

/**
 * Keeps locations apart, the newest 1,000 of each device. A repeat changes nothing, also of one that
 * was accepted to the track by hand. Of an expired device none is kept, as none is stored.
 */
export const prepareQuarantine = async (
  db: Database,
  accountId: string,
  fixes: Quarantined[],
): Promise<(isCurrent: SQL) => Statement[]> => {
  const rows = await Promise.all(
    fixes.map(async (fix) => [
      await idOf(fix),
      fix.device.key,
      fix.packed[0],
      fix.reason,
      fix.receivedAt,
      JSON.stringify(fix.packed),
      fix.packed[1],
      fix.packed[2],
    ]),
  )
  const keys = [...new Set(fixes.map(({ device }) => device.key))]
  const newest = sql`SELECT ${quarantine.id} AS id, row_number() OVER (
      PARTITION BY ${quarantine.deviceKey} ORDER BY ${quarantine.receivedAt} DESC) AS place
    FROM ${quarantine} WHERE ${quarantine.deviceKey} IN ${valuesOf(keys)}`
  return (isCurrent) => [
    statement(
      db,
      sql`INSERT INTO ${quarantine} (${COLUMNS})
        SELECT sent.value ->> 0, ${accountId}, sent.value ->> 1, sent.value ->> 2,
          sent.value ->> 3, sent.value ->> 4, sent.value ->> 5
        FROM json_each(${JSON.stringify(rows)}) sent
        CROSS JOIN ${devices} ON ${devices.key} = sent.value ->> 1
        CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
        WHERE (${devices.ends} IS NULL OR ${devices.ends} > ${accounts.day}) AND ${isCurrent}
          AND NOT EXISTS (SELECT 1 FROM ${locations} WHERE ${locations.deviceKey} = ${devices.key}
            AND ${locations.time} = sent.value ->> 2 AND ${locations.latitude} = sent.value ->> 6
            AND ${locations.longitude} = sent.value ->> 7)
        ON CONFLICT DO NOTHING`,
    ),
    statement(
      db,
      sql`DELETE FROM ${quarantine} WHERE ${quarantine.id} IN
        (SELECT id FROM (${newest}) WHERE place > ${literal(MAX_QUARANTINED)})`,
    ),
  ]
}
