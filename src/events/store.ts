import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { LOCATION_JSON, parseLocation } from '../db/queries/locations.ts'
import { type InferRow, json, nullable, type Query, select, selectIn } from '../db/query.ts'
import { devices, eventHeads, events, groupDevices, locations, tombstones } from '../db/schema.ts'
import { compile, literal, names, type Placeholders, readAll, runBatch } from '../db/statement.ts'

const CURRENT_GROUPS = sql`(SELECT json_group_array(${groupDevices.groupId}) FROM ${groupDevices}
  WHERE ${groupDevices.deviceKey} = ${devices.key})`

const LOCATION = sql`(SELECT ${LOCATION_JSON} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${events.data} ->> 'time')`

/** From events with `JOIN_DEVICE`. */
const EVENT_COLUMNS = {
  ...getTableColumns(events),
  deviceKey: nullable(devices.key),
  /** The current ones; a deleted device keeps those it was last in. */
  groups: json<string[] | null>(sql`CASE WHEN ${devices.key} IS NULL THEN ${tombstones.groups}
    ELSE ${CURRENT_GROUPS} END`),
  /** The newest location of a report, while it is stored: the log keeps only its time. */
  location: sql`CASE WHEN ${events.type} = 'location.reported' THEN ${LOCATION} END`.mapWith(
    parseLocation,
  ),
}
type EventRow = InferRow<typeof EVENT_COLUMNS>

export const JOIN_DEVICE = sql`LEFT JOIN ${devices}
    ON ${devices.id} = ${events.deviceId} AND ${devices.accountId} = ${events.accountId}
  LEFT JOIN ${tombstones}
    ON ${tombstones.accountId} = ${events.accountId} AND ${tombstones.id} = ${events.deviceId}`

const NOTE = { text: null }
const PLACE = { latitude: null, longitude: null }
/** What is said of a device in alerts is erased with it, though the log still has the alert. */
const ERASED: Record<string, Record<string, null>> = {
  'alert.raised': { ...NOTE, ...PLACE },
  'alert.updated': PLACE,
  'alert.resolved': NOTE,
  'alert.reopened': NOTE,
  'alert.cancelled': NOTE,
  'alert.noted': NOTE,
}

export const toEvent = ({ deviceKey, groups, data, ...row }: EventRow) => ({
  ...row,
  groups: groups ?? [],
  data: { ...data, ...(deviceKey === null && ERASED[row.type]) },
})

/** An event as its cell has it, with what decides who may read it. */
export type LoggedEvent = ReturnType<typeof toEvent>

export interface LogPage {
  events: LoggedEvent[]
  /** Whether there may be more after the last of these. */
  hasMore: boolean
  /** The account's last number when the page was read. */
  head: number
}

/** Bounds the memory of a page, whatever its events carry. */
export const MAX_PAGE_BYTES = 2_000_000

const SEQUENCE = names(events.sequence)

/** Events in order, up to the one that exceeds `MAX_PAGE_BYTES`, each with the sum of `bytes`. */
export const selectBounded = (bytes: SQL, from: SQL) =>
  selectIn(
    EVENT_COLUMNS,
    (list) => sql`SELECT * FROM (
      SELECT *, sum(${bytes}) OVER (ORDER BY ${SEQUENCE} ROWS UNBOUNDED PRECEDING) AS bytes
      FROM (SELECT ${list} ${from}))
    WHERE bytes - (${bytes}) < ${literal(MAX_PAGE_BYTES)} ORDER BY ${SEQUENCE}`,
  ) as Query<EventRow & { bytes: number }>

const selectPage = compile((p: Placeholders<{ accountId: string; after: number; limit: number }>) =>
  selectBounded(
    sql`ifnull(length(location), 0)`,
    sql`FROM ${events} ${JOIN_DEVICE}
        WHERE ${events.accountId} = ${p.accountId} AND ${events.sequence} > ${p.after}
        ORDER BY ${events.sequence} LIMIT ${p.limit}`,
  ),
)

export const selectHead = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    { sequence: eventHeads.sequence },
    sql`FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${p.accountId}`,
  ),
)

/** The next events after a number, and the account's last number at the same moment. */
export const readLog = async (
  db: Database,
  accountId: string,
  after: number,
  limit: number,
): Promise<LogPage> => {
  const { page, head } = await runBatch(db, {
    page: selectPage(db, { accountId, after, limit }),
    head: selectHead(db, { accountId }),
  })
  const rows = page.results
  return {
    events: rows.map(toEvent),
    hasMore: rows.length === limit || (rows.at(-1)?.bytes ?? 0) >= MAX_PAGE_BYTES,
    head: head.results[0]?.sequence ?? 0,
  }
}

const selectChosen = compile((p: Placeholders<{ accountId: string; sequences: string }>) =>
  select(
    EVENT_COLUMNS,
    sql`FROM json_each(${p.sequences}) chosen
      CROSS JOIN ${events}
        ON ${events.accountId} = ${p.accountId} AND ${events.sequence} = chosen.value ${JOIN_DEVICE}
      ORDER BY ${events.sequence}`,
  ),
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
