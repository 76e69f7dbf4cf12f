import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { LOCATION_JSON, parseLocation } from '../db/queries/locations.ts'
import { devices, eventHeads, events, groupDevices, locations, tombstones } from '../db/schema.ts'
import { compile, literal, names, placeholders, readAll, runBatch } from '../db/statement.ts'
import type { Addressed } from '../domain/event/event.ts'
import type { StoredLocation } from '../domain/track/location.ts'

/** An event as its cell has it, with what decides who may read it. */
export interface LoggedEvent extends Addressed {
  id: string
  sequence: number
  accountId: string
  time: number
  data: Record<string, unknown>
  /** The newest location of a report, while it is stored: the log keeps only its time. */
  location: StoredLocation | null
}

export interface EventRow {
  id: string
  sequence: number
  account_id: string
  type: string
  time: number
  device_id: string | null
  data: string
  device_key: number | null
  groups: string | null
  location: string | null
}

const CURRENT_GROUPS = sql`(SELECT json_group_array(${groupDevices.groupId}) FROM ${groupDevices}
  WHERE ${groupDevices.deviceKey} = ${devices.key})`

const LOCATION = sql`(SELECT ${LOCATION_JSON} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${events.data} ->> 'time')`

/** The device's groups are the current ones; a deleted device keeps those it was last in. */
export const EVENT_COLUMNS = sql`${events}.*, ${devices.key} AS device_key,
  CASE WHEN ${devices.key} IS NULL THEN ${tombstones.groups} ELSE ${CURRENT_GROUPS} END AS groups,
  CASE WHEN ${events.type} = 'location.reported' THEN ${LOCATION} END AS location`

export const JOIN_DEVICE = sql`LEFT JOIN ${devices}
    ON ${devices.id} = ${events.deviceId} AND ${devices.accountId} = ${events.accountId}
  LEFT JOIN ${tombstones}
    ON ${tombstones.accountId} = ${events.accountId} AND ${tombstones.id} = ${events.deviceId}`

/** What a device said in an alert is erased with the device, though the log still has the alert. */
const ERASED = { text: null, latitude: null, longitude: null }

const dataOf = ({ type, data, device_key }: EventRow): Record<string, unknown> => ({
  ...(JSON.parse(data) as Record<string, unknown>),
  ...(type === 'alert.raised' && device_key === null && ERASED),
})

export const toEvent = (row: EventRow): LoggedEvent => ({
  id: row.id,
  sequence: row.sequence,
  accountId: row.account_id,
  type: row.type,
  time: row.time,
  deviceId: row.device_id,
  groups: row.groups === null ? [] : (JSON.parse(row.groups) as string[]),
  data: dataOf(row),
  location: parseLocation(row.location),
})

export interface LogPage {
  events: LoggedEvent[]
  /** Whether there may be more after the last of these. */
  hasMore: boolean
  /** The account's last number when the page was read. */
  head: number
}

/** Bounds the memory of a page, whatever its events carry. */
export const MAX_PAGE_BYTES = 2_000_000

const p = placeholders('accountId', 'after', 'limit', 'sequences')
const SEQUENCE = names(events.sequence)
const LOCATION_BYTES = sql`ifnull(length(location), 0)`

const selectPage = compile<
  { accountId: string; after: number; limit: number },
  EventRow & { bytes: number }
>(
  sql`SELECT * FROM (
      SELECT *, sum(${LOCATION_BYTES}) OVER (ORDER BY ${SEQUENCE} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT ${EVENT_COLUMNS} FROM ${events} ${JOIN_DEVICE}
        WHERE ${events.accountId} = ${p.accountId} AND ${events.sequence} > ${p.after}
        ORDER BY ${events.sequence} LIMIT ${p.limit}))
    WHERE bytes - ${LOCATION_BYTES} < ${literal(MAX_PAGE_BYTES)} ORDER BY ${SEQUENCE}`,
)

export const selectHead = compile<{ accountId: string }, { sequence: number }>(
  sql`SELECT ${eventHeads.sequence} FROM ${eventHeads}
    WHERE ${eventHeads.accountId} = ${p.accountId}`,
)

/** The next events after a number, and the account's last number at the same moment. */
export const readLog = async (
  db: Database,
  accountId: string,
  after: number,
  limit: number,
): Promise<LogPage> => {
  const [{ results: rows }, { results: heads }] = await runBatch(db, [
    selectPage(db, { accountId, after, limit }),
    selectHead(db, { accountId }),
  ])
  return {
    events: rows.map(toEvent),
    hasMore: rows.length === limit || (rows.at(-1)?.bytes ?? 0) >= MAX_PAGE_BYTES,
    head: heads[0]?.sequence ?? 0,
  }
}

const selectChosen = compile<{ accountId: string; sequences: string }, EventRow>(
  sql`SELECT ${EVENT_COLUMNS} FROM json_each(${p.sequences}) chosen
    CROSS JOIN ${events}
      ON ${events.accountId} = ${p.accountId} AND ${events.sequence} = chosen.value ${JOIN_DEVICE}
    ORDER BY ${events.sequence}`,
)

/** The events with these numbers that are still kept. */
export const readSequences = async (
  db: Database,
  accountId: string,
  sequences: number[],
): Promise<LoggedEvent[]> => {
  const values = { accountId, sequences: JSON.stringify(sequences) }
  return (await readAll(selectChosen(db, values))).map(toEvent)
}
