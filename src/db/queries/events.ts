import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../open.ts'
import { eventHeads, events, webhooks } from '../schema.ts'
import { compile, names, placeholders, readFirst, type Statement, statement } from '../statement.ts'

/** An event before it has its number. */
export interface NewEvent {
  accountId: string
  /** Derived from what happened: appending the same event twice stores it once. */
  id: string
  type: string
  time: number
  deviceId: string | null
  data: Record<string, unknown>
}

type Value = SQLWrapper | string | number | null
type EventValues = Record<keyof NewEvent, Value>

const HEAD_COLUMNS = names(eventHeads.accountId, eventHeads.sequence)
export const EVENT_COLUMNS = names(
  events.accountId,
  events.sequence,
  events.id,
  events.type,
  events.time,
  events.deviceId,
  events.data,
)

const buildAppend = (
  { accountId, id, type, time, deviceId, data }: EventValues,
  guard: SQL,
): [takeNumber: SQL, insert: SQL] => {
  const isNew = sql`(${guard}) AND NOT EXISTS (SELECT 1 FROM ${events}
    WHERE ${events.accountId} = ${accountId} AND ${events.id} = ${id})`
  return [
    sql`INSERT INTO ${eventHeads} (${HEAD_COLUMNS}) SELECT ${accountId}, 1 WHERE ${isNew}
      ON CONFLICT (${names(eventHeads.accountId)})
      DO UPDATE SET ${names(eventHeads.sequence)} = ${eventHeads.sequence} + 1`,
    sql`INSERT INTO ${events} (${EVENT_COLUMNS})
      SELECT ${accountId}, ${eventHeads.sequence}, ${id}, ${type}, ${time}, ${deviceId}, ${data}
      FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${accountId} AND ${isNew}`,
  ]
}

const valuesOfEvent = (event: NewEvent) => ({ ...event, data: JSON.stringify(event.data) })

const [TAKE_NUMBER, INSERT_EVENT] = buildAppend(
  placeholders('accountId', 'id', 'type', 'time', 'deviceId', 'data'),
  sql`true`,
)
const takeNumber = compile<ReturnType<typeof valuesOfEvent>>(TAKE_NUMBER)
const insertEvent = compile<ReturnType<typeof valuesOfEvent>>(INSERT_EVENT)

/**
 * Statements for the batch of the write that the event reports. They take a number and insert the
 * event, or do neither when its id is stored already or the guard is false: no gap, no repeat.
 */
export const appendEvent = (
  db: Database,
  event: NewEvent,
  guard?: SQL,
): [takeNumber: Statement, insert: Statement] => {
  const values = valuesOfEvent(event)
  if (!guard) return [takeNumber(db, values), insertEvent(db, values)]
  const [number, insert] = buildAppend(values, guard)
  return [statement(db, number), statement(db, insert)]
}

interface NewEvents {
  accountId: Value
  type: string
  time: Value
  /** A query with the columns `id`, `place`, `device_id` and `data`: one event for each row. */
  rows: SQL
}

/** Appends many events of one type, numbered in the order of `place`. `rows` runs twice. */
export const buildAppendRows = ({
  accountId,
  type,
  time,
  rows,
}: NewEvents): [takeNumbers: SQL, insert: SQL] => [
  sql`INSERT INTO ${eventHeads} (${HEAD_COLUMNS})
    SELECT ${accountId}, count(*) FROM (${rows}) HAVING count(*) > 0
    ON CONFLICT (${names(eventHeads.accountId)})
    DO UPDATE SET ${names(eventHeads.sequence)} = ${eventHeads.sequence} + excluded.sequence`,
  sql`INSERT INTO ${events} (${EVENT_COLUMNS})
    SELECT ${accountId},
      ${eventHeads.sequence} - count(*) OVER () + row_number() OVER (ORDER BY fresh.place),
      fresh.id, ${type}, ${time}, fresh.device_id, fresh.data
    FROM (${rows}) fresh JOIN ${eventHeads} ON ${eventHeads.accountId} = ${accountId}`,
]

/** The same for rows some of which may be stored already. */
export const appendEvents = (
  db: Database,
  event: NewEvents,
): [takeNumbers: Statement, insert: Statement] => {
  const { accountId, rows } = event
  const fresh = sql`SELECT * FROM (${rows}) r WHERE NOT EXISTS (
    SELECT 1 FROM ${events} WHERE ${events.accountId} = ${accountId} AND ${events.id} = r.id)`
  const [numbers, insert] = buildAppendRows({ ...event, rows: fresh })
  return [statement(db, numbers), statement(db, insert)]
}

/**
 * Appends events of several accounts and types. `rows` has the columns `account_id`, `id`, `type`,
 * `time`, `place`, `device_id` and `data`. Those that are stored already must not be among them.
 */
export const buildAppendToAccounts = (rows: SQL): [takeNumbers: SQL, insert: SQL] => [
  sql`INSERT INTO ${eventHeads} (${HEAD_COLUMNS})
    SELECT account_id, count(*) FROM (${rows}) WHERE true GROUP BY account_id
    ON CONFLICT (${names(eventHeads.accountId)})
    DO UPDATE SET ${names(eventHeads.sequence)} = ${eventHeads.sequence} + excluded.sequence`,
  sql`INSERT INTO ${events} (${EVENT_COLUMNS})
    SELECT fresh.account_id,
      ${eventHeads.sequence} - count(*) OVER (PARTITION BY fresh.account_id)
        + row_number() OVER (PARTITION BY fresh.account_id ORDER BY fresh.place),
      fresh.id, fresh.type, fresh.time, fresh.device_id, fresh.data
    FROM (${rows}) fresh JOIN ${eventHeads} ON ${eventHeads.accountId} = fresh.account_id`,
]

/** True when someone reads the account's events, so that its feed must be poked. */
export const isSubscribed = (accountId: Value, now: Value): SQL =>
  sql`(EXISTS (SELECT 1 FROM ${webhooks}
      WHERE ${webhooks.accountId} = ${accountId} AND ${webhooks.enabled} = 1)
    OR EXISTS (SELECT 1 FROM ${eventHeads}
      WHERE ${eventHeads.accountId} = ${accountId} AND ${eventHeads.streamsUntil} > ${now}))`

/** True when someone wants `location.reported`, which is logged only then. */
export const isSubscribedToLocations = (accountId: Value, now: Value): SQL =>
  sql`(EXISTS (SELECT 1 FROM ${webhooks} WHERE ${webhooks.accountId} = ${accountId}
      AND ${webhooks.enabled} = 1 AND ${webhooks.wantsLocations} = 1)
    OR EXISTS (SELECT 1 FROM ${eventHeads} WHERE ${eventHeads.accountId} = ${accountId}
      AND ${eventHeads.locationStreamsUntil} > ${now}))`

const p = placeholders('accountId', 'now')
const selectSubscribed = compile<{ accountId: string; now: number }, { subscribed: number }>(
  sql`SELECT ${isSubscribed(p.accountId, p.now)} AS subscribed`,
)

export const hasSubscribers = async (
  db: Database,
  accountId: string,
  now: number,
): Promise<boolean> => (await readFirst(selectSubscribed(db, { accountId, now })))?.subscribed === 1
