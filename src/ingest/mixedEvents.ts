import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { buildAppendRows } from '../db/queries/events.ts'
import { devices, locations } from '../db/schema.ts'
import { compile, placeholders, type Statement } from '../db/statement.ts'
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
  SELECT min(found.event_id) AS id, min(found.event_id) AS place, found.id AS device_id,
    json_object('time', max(${locations.time}), 'count', count(DISTINCT ${locations.time})) AS data
  FROM ${sentRows(p.rows)} CROSS JOIN found ON found.report = ${SENT_REPORT}
  CROSS JOIN ${locations} ON ${locations.deviceKey} = found.key
    AND ${locations.time} = ${SENT} ->> 0 AND ${locations.receivedAt} = ${p.now}
  GROUP BY found.key`

const [TAKE_NUMBERS, INSERT_EVENTS] = buildAppendRows({
  accountId: p.accountId,
  type: 'location.reported',
  time: p.now,
  rows: NEW_LOCATIONS,
})
const takeNumbers = compile<MixedEvents>(TAKE_NUMBERS)
const insertEvents = compile<MixedEvents>(INSERT_EVENTS)

export const appendMixedEvents = (db: Database, values: MixedEvents): Statement[] => [
  takeNumbers(db, values),
  insertEvents(db, values),
]
