import { sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { devices, eventHeads, events, locations } from '../db/schema.ts'
import { compile, names, placeholders, type Statement } from '../db/statement.ts'

/*
 * `location.reported` for a report of many devices: one event a device. Like those of `reportEvent`,
 * both statements depend on `changes()` of the INSERT just before them.
 */

interface MixedEvents {
  accountId: string
  refs: string
  groups: string
  now: number
}

const p = placeholders('accountId', 'refs', 'groups', 'now')
const named = alias(devices, 'named')

/** One row for each device with new locations: those received at this very moment. */
const NEW_LOCATIONS = sql`SELECT ${devices.id} AS device_id, min(ref.value ->> 2) AS event_id,
    json_object('time', max(${locations.time}), 'count', count(DISTINCT ${locations.time})) AS data
  FROM json_each(${p.groups}) sent
  CROSS JOIN json_each(${p.refs}) ref ON ref.key = sent.key
  CROSS JOIN ${devices} ON ${devices.key} = ifnull(
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.id} = sent.value ->> 0 AND ${named.accountId} = ${p.accountId}),
    (SELECT ${named.key} FROM ${devices} ${named}
      WHERE ${named.accountId} = ${p.accountId} AND ${named.identifierKey} = sent.value ->> 1))
  CROSS JOIN json_each(sent.value, '$[2]') location
  CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
    AND ${locations.time} = location.value ->> 0 AND ${locations.receivedAt} = ${p.now}
  WHERE changes() > 0
  GROUP BY ${devices.key}`

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
