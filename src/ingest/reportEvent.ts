import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { EVENT_COLUMNS } from '../db/queries/events.ts'
import { devices, eventHeads, events, locations } from '../db/schema.ts'
import { compile, names, placeholders, type Statement } from '../db/statement.ts'

/*
 * `location.reported`: one event a report. The log keeps the newest time and the count; the
 * location is joined when the event is read. Both statements depend on `changes()` of the report's
 * INSERT, which must be the statement just before them.
 */

export interface ReportEvent {
  accountId: string
  deviceId: string
  eventId: string
  /** The times of the report's locations, as a JSON array. */
  times: string
  now: number
}

const p = placeholders('accountId', 'deviceId', 'eventId', 'times', 'now')

const takeNumber = compile<ReportEvent>(
  sql`INSERT INTO ${eventHeads} (${names(eventHeads.accountId, eventHeads.sequence)})
    SELECT ${p.accountId}, 1 WHERE changes() > 0
    ON CONFLICT (${names(eventHeads.accountId)})
    DO UPDATE SET ${names(eventHeads.sequence)} = ${eventHeads.sequence} + 1`,
)

/** A location of the report is new if it was received at this very moment. */
const NEW_LOCATIONS = sql`SELECT
    json_object('time', max(${locations.time}), 'count', count(DISTINCT ${locations.time}))
  FROM ${devices} CROSS JOIN json_each(${p.times}) sent
  CROSS JOIN ${locations} ON ${locations.deviceKey} = ${devices.key}
    AND ${locations.time} = sent.value AND ${locations.receivedAt} = ${p.now}
  WHERE ${devices.id} = ${p.deviceId}`

const insertEvent = compile<ReportEvent>(
  sql`INSERT INTO ${events} (${EVENT_COLUMNS})
    SELECT ${p.accountId}, ${eventHeads.sequence}, ${p.eventId}, 'location.reported', ${p.now},
      ${p.deviceId}, (${NEW_LOCATIONS})
    FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId} AND changes() > 0`,
)

export const appendReportEvent = (db: Database, event: ReportEvent): Statement[] => [
  takeNumber(db, event),
  insertEvent(db, event),
]
