import { sql } from 'drizzle-orm'
import type { Database } from '../../db/open.ts'
import { packLocation } from '../../db/queries/locations.ts'
import { accounts, devices, quarantine } from '../../db/schema.ts'
import { literal, names, type Statement, statement, valuesOf } from '../../db/statement.ts'
import { MAX_QUARANTINED, type QuarantineReason } from '../../domain/account/source.ts'
import type { Location } from '../../domain/track/location.ts'
import { hexOf } from '../decoding/bytes.ts'

export interface DeviceToJudge {
  key: number
  id: string
  maxSpeed: number
}

export interface Quarantined {
  device: DeviceToJudge
  location: Location
  reason: QuarantineReason
  receivedAt: number
}

const idOf = async (deviceKey: number, time: number): Promise<string> => {
  const bytes = new TextEncoder().encode(`quarantine ${deviceKey} ${time}`)
  return `qua_${hexOf(new Uint8Array(await crypto.subtle.digest('SHA-256', bytes)).slice(0, 11))}`
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
 * Keeps fixes apart, the newest 1,000 of each device. A repeat changes nothing. Of an expired device
 * none is kept, as none is stored: it could be released to the track.
 */
export const quarantineStatements = async (
  db: Database,
  accountId: string,
  fixes: Quarantined[],
): Promise<Statement[]> => {
  if (fixes.length === 0) return []
  const rows = await Promise.all(
    fixes.map(async ({ device, location, reason, receivedAt }) => [
      await idOf(device.key, location.dateTime),
      device.key,
      location.dateTime,
      reason,
      receivedAt,
      JSON.stringify(packLocation(location)),
    ]),
  )
  const keys = [...new Set(fixes.map(({ device }) => device.key))]
  const newest = sql`SELECT ${quarantine.id} AS id, row_number() OVER (
      PARTITION BY ${quarantine.deviceKey} ORDER BY ${quarantine.receivedAt} DESC) AS place
    FROM ${quarantine} WHERE ${quarantine.deviceKey} IN ${valuesOf(keys)}`
  return [
    statement(
      db,
      sql`INSERT INTO ${quarantine} (${COLUMNS})
        SELECT sent.value ->> 0, ${accountId}, sent.value ->> 1, sent.value ->> 2,
          sent.value ->> 3, sent.value ->> 4, sent.value ->> 5
        FROM json_each(${JSON.stringify(rows)}) sent
        CROSS JOIN ${devices} ON ${devices.key} = sent.value ->> 1
        CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
        WHERE ${devices.ends} IS NULL OR ${devices.ends} > ${accounts.day}
        ON CONFLICT DO NOTHING`,
    ),
    statement(
      db,
      sql`DELETE FROM ${quarantine} WHERE ${quarantine.id} IN
        (SELECT id FROM (${newest}) WHERE place > ${literal(MAX_QUARANTINED)})`,
    ),
  ]
}
