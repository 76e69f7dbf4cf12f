import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { devices, eventHeads, events, locations } from '../db/schema.ts'
import { compile, names, placeholders, type Statement } from '../db/statement.ts'
import { devicesOf, SENT, SENT_REPORT, sentRows } from './mixedDevices.ts'

/*
 * `location.reported` for a report of many devices: one event a device. Like those of `reportEvent`,
 * both statements depend on `changes()` of the INSERT just before them.
 */

interface MixedEvents {
  accountId: string
  groupId: string | null
  refs: string
  rows: string
  now: number
}

const p = placeholders('accountId', 'refs', 'rows', 'now')

/** One row for each device with new locations: those received at this very moment. */
const NEW_LOCATIONS = sql`WITH found AS MATERIALIZED (SELECT sent.key AS report,
      ${devices.key} AS key, ${devices.id} AS id, sent.value ->> 2 AS event_id
    FROM ${devicesOf(sql`${p.refs}`)} WHERE changes() > 0)
  SELECT found.id AS device_id, min(found.event_id) AS event_id,
    json_object('time', max(${locations.time}), 'count', count(DISTINCT ${locations.time})) AS data
  FROM ${sentRows(p.rows)} CROSS JOIN found ON found.report = ${SENT_REPORT}
  CROSS JOIN ${locations} ON ${locations.deviceKey} = found.key
    AND ${locations.time} = ${SENT} ->> 0 AND ${locations.receivedAt} = ${p.now}
  GROUP BY found.key`

const takeNumbers = compile<MixedEvents>(
  sql`INSERT INTO ${eventHeads} (${names(eventHeads.accountId, eventHeads.sequence)})
    SELECT ${p.accountId}, count(*) FROM (${NEW_LOCATIONS}) HAVING count(*) > 0
    ON CONFLICT (${names(eventHeads.accountId)})
    DO UPDATE SET ${names(eventHeads.sequence)} = ${eventHeads.sequence} + excluded.sequence`,
)

const EVENT_COLUMNS = names(
  events.accountId,
  events.sequence,
  events.id,
  events.type,
  events.time,
  events.deviceId,
  events.data,
)

const insertEvents = compile<MixedEvents>(
  sql`INSERT INTO ${events} (${EVENT_COLUMNS})
    SELECT ${p.accountId},
      ${eventHeads.sequence} - count(*) OVER () + row_number() OVER (ORDER BY fresh.event_id),
      fresh.event_id, 'location.reported', ${p.now}, fresh.device_id, fresh.data
    FROM (${NEW_LOCATIONS}) fresh
    JOIN ${eventHeads} ON ${eventHeads.accountId} = ${p.accountId}`,
)

export const appendMixedEvents = (db: Database, values: MixedEvents): Statement[] => [
  takeNumbers(db, values),
  insertEvents(db, values),
]
