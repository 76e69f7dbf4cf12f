import { type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { buildAppendRows } from '../db/queries/events.ts'
import { PACKED_COLUMNS, REST_INDEX } from '../db/queries/locations.ts'
import { devicesNamedIn } from '../db/queries/namedDevices.ts'
import { IS_VISIBLE_DEVICE, isVisible } from '../db/queries/visibility.ts'
import { insertSelect, selectIn } from '../db/query.ts'
import { accounts, devices, locations, pendingRaises, stays } from '../db/schema.ts'
import {
  commaSeparated,
  compile,
  literal,
  names,
  type Placeholders,
  type RowOf,
  type Statement,
} from '../db/statement.ts'
import { isActive, isAssumed, isCurrent } from './guard.ts'
import { IS_TIME_ZONE_ASSUMED, KEPT_SINCE, p, type Values } from './values.ts'

/*
 * The statements that store arrivals. Those of one device that has just reported are a little
 * simpler: each location need not say whose it is, nor when it arrived.
 */

/** A packed location of the batch. */
const SENT = sql`location.value`
const sentMember = (index: number): SQL => sql`${SENT} ->> ${literal(index)}`
const SENT_TIME = sentMember(0)

/** The LIMIT keeps SQLite from writing out each location once for each of its columns. */
const SENT_ROWS = sql`(SELECT value FROM json_each(${p.rows}) LIMIT -1) location`
/** The same with their positions: a wider row takes longer to copy. */
const NUMBERED_ROWS = sql`(SELECT key, value FROM json_each(${p.rows}) LIMIT -1) location`

/**
 * What was not evaluated is stored by shorter statements: an INSERT that counts rows of its own
 * table, as the guard of the tracks does, first copies everything.
 */
type Guard = 'evaluated' | 'unevaluated'

/** How one device, or many, and their locations are given. */
interface Packing {
  /** `accounts` with the named `devices`. */
  named: SQL
  part: SQL
  eventId: SQL
  /** The guard of arrivals that were evaluated, and of others. */
  isCurrent: Record<Guard, SQL>
  /** Selects from the locations, each with its device in `found`. */
  select: (columns: SQL, found: SQL, rows: SQL) => SQL
  receivedAt: SQL
}

/** One device, named by its id, that has just reported: fewer rows are read. */
const ONE: Packing = {
  named: sql`${accounts} JOIN ${devices} ON ${devices.accountId} = ${accounts.id}
    WHERE ${accounts.id} = ${p.accountId} AND ${IS_VISIBLE_DEVICE}`,
  part: sql`0`,
  eventId: sql`${p.refs} ->> '$[0][2]'`,
  isCurrent: { evaluated: isCurrent(p, true), unevaluated: isAssumed(p, IS_TIME_ZONE_ASSUMED) },
  select: (columns, found, rows) => sql`SELECT ${columns} FROM (${found}) found CROSS JOIN ${rows}`,
  receivedAt: sql`${p.now}`,
}

const MANY: Packing = {
  named: sql`${accounts} CROSS JOIN ${devicesNamedIn(p.refs)} WHERE ${accounts.id} = ${p.accountId}`,
  part: sql`sent.key`,
  eventId: sql`sent.value ->> 2`,
  isCurrent: { evaluated: isCurrent(p), unevaluated: isAssumed(p) },
  // MATERIALIZED: the devices are found once, before SQLite goes through the locations.
  select: (columns, found, rows) => sql`WITH found AS MATERIALIZED (${found}) SELECT ${columns}
    FROM ${rows} CROSS JOIN found ON found.part = ${sentMember(PACKED_COLUMNS.length)}`,
  receivedAt: sql`ifnull(${sentMember(PACKED_COLUMNS.length + 1)}, ${p.now})`,
}

/** The devices that take locations, while the batch is current. */
const findDevices = (packing: Packing, guard: Guard, others = sql``): SQL =>
  sql`SELECT ${packing.part} AS part, ${devices.key} AS key, ${KEPT_SINCE} AS kept_since ${others}
    FROM ${packing.named} AND ${packing.isCurrent[guard]} AND ${isActive(p)}`

/** Looks into single locations only when the oldest is too old. */
const IS_KEPT = sql`(${p.oldest} >= found.kept_since OR ${SENT_TIME} >= found.kept_since)`

const AT_SENT_TIME = sql`${locations.deviceKey} = found.key AND ${locations.time} = ${SENT_TIME}`

const insertLocations = (packing: Packing, guard: Guard) => {
  const sent = commaSeparated(PACKED_COLUMNS.map((_, index) => sentMember(index)))
  const columns = sql`found.key, ${packing.receivedAt}, ${sent}`
  const found = findDevices(packing, guard)
  return compile<Values>(
    sql`INSERT INTO ${locations}
      (${names(locations.deviceKey, locations.receivedAt, ...PACKED_COLUMNS)})
      ${packing.select(columns, found, SENT_ROWS)} WHERE ${IS_KEPT} ON CONFLICT DO NOTHING`,
  )
}

/** `location.reported`: one event a device, with the newest time and the number of new locations. */
const appendEvents = (packing: Packing, guard: Guard) => {
  const others = sql`, ${devices.id} AS id, ${packing.eventId} AS event_id`
  const columns = sql`min(found.event_id) AS id, min(found.event_id) AS place,
    found.id AS device_id, json_object('time', max(${SENT_TIME}),
      'count', count(DISTINCT ${SENT_TIME})) AS data`
  const [takeNumbers, insert] = buildAppendRows({
    accountId: p.accountId,
    type: 'location.reported',
    time: p.now,
    rows: sql`${packing.select(columns, findDevices(packing, guard, others), SENT_ROWS)}
      WHERE ${IS_KEPT} AND NOT EXISTS (SELECT 1 FROM ${locations} WHERE ${AT_SENT_TIME})
      GROUP BY found.key`,
  }).map((fragment) => compile<Values>(fragment)) as [
    ReturnType<typeof compile<Values>>,
    ReturnType<typeof compile<Values>>,
  ]
  return (db: Database, values: Values): Statement[] => [
    takeNumbers(db, values),
    insert(db, values),
  ]
}

/**
 * Compares what was sent with what is stored at its time. Equal JSON has the same length in any
 * order of members, so no more text is read than was sent.
 */
const selectStored = ({ named, part, select, receivedAt }: Packing) => {
  const found = sql`SELECT ${part} AS part, ${devices.key} AS key FROM ${named}`
  const rest = sentMember(REST_INDEX)
  const isEqual = sql.join(
    PACKED_COLUMNS.slice(1, REST_INDEX).map(
      (column, at) => sql`${column} IS ${sentMember(at + 1)}`,
    ),
    sql` AND `,
  )
  const columns = {
    index: sql<number>`location.key`,
    /** Whether it arrived when the sent one did. */
    isNew: sql`${locations.receivedAt} = ${receivedAt}`.mapWith(Boolean),
    differs: sql`NOT (${isEqual} AND length(${locations.rest}) IS length(${rest}))`.mapWith(
      Boolean,
    ),
    /** The stored `rest` when only its text differs: the order of members does not matter. */
    rest: sql<string | null>`CASE WHEN length(${locations.rest}) = length(${rest})
      AND ${locations.rest} <> ${rest} THEN ${locations.rest} END`,
  }
  return compile((_: Placeholders<Values>) =>
    selectIn(
      columns,
      (list) =>
        sql`${select(list, found, NUMBERED_ROWS)} CROSS JOIN ${locations} ON ${AT_SENT_TIME}`,
    ),
  )
}
export type StoredRow = RowOf<ReturnType<typeof selectStored>>

const insertRaisesIf = (raises: SQL, condition: SQL): SQL =>
  insertSelect(
    pendingRaises,
    {
      id: sql`ifnull(sent.value ->> '$.press.id', sent.value ->> '$.alert.id')`,
      accountId: accounts.id,
      creation: p.now,
      raise: sql`sent.value`,
    },
    sql`FROM ${accounts} CROSS JOIN json_each(${raises}) sent
      CROSS JOIN ${devices} ON ${devices.id} = sent.value ->> '$.deviceId'
        AND ${devices.accountId} = ${p.accountId} AND ${isVisible(devices.key, p.groupId)}
      WHERE ${accounts.id} = ${p.accountId} AND ${isCurrent(p)} AND ${condition}
      ON CONFLICT DO NOTHING`,
  )

/** The alerts that came with it: also of expired devices, and when the locations are known. */
export const insertRaises = compile<Values>(
  insertRaisesIf(sql`${p.raises}`, sql`sent.value ->> '$.alert.dateTime' >= ${KEPT_SINCE}`),
)

/** What rules have found in the new locations. */
export const insertHits = compile<Values>(insertRaisesIf(sql`${p.hits}`, isActive(p)))

/** Right after the INSERT of the locations: only if that has stored some. */
export const writeStays = compile<Values>(
  insertSelect(
    stays,
    {
      deviceKey: sql`next.value ->> 0`,
      accountId: sql`${p.accountId}`,
      record: sql`next.value ->> 1`,
    },
    sql`FROM json_each(${p.nextStays}) next WHERE changes() > 0
      ON CONFLICT (device_key) DO UPDATE SET record = excluded.record`,
  ),
)

const LAST_RECEIVED = sql`(SELECT ${locations.receivedAt} FROM ${locations}
  WHERE ${locations.deviceKey} = ${devices.key} ORDER BY ${locations.time} DESC LIMIT 1)`

const isContactDue = (contact: SQL): SQL => sql`ifnull(${devices.lastContact}, 0) < ${contact}
  AND ifnull(${LAST_RECEIVED}, 0) < ${contact}`

/** Writes only where the last location does not show this arrival: late, repeated or refused. */
const updateContactOfOne = compile<Values>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = ${p.now}
    WHERE ${IS_VISIBLE_DEVICE} AND ${isContactDue(sql`${p.now}`)} AND EXISTS (SELECT 1
      FROM ${accounts} WHERE ${accounts.id} = ${p.accountId} AND ${isAssumed(p, IS_TIME_ZONE_ASSUMED)})`,
)

const CONTACT = sql`sent.value ->> 3`
const updateContactOfMany = compile<Values>(
  sql`UPDATE ${devices} SET ${names(devices.lastContact)} = due.contact
    FROM (SELECT ${devices.key} AS key, max(${CONTACT}) AS contact
      FROM ${MANY.named} AND ${isContactDue(CONTACT)} AND ${isAssumed(p)}
      GROUP BY ${devices.key}) due
    WHERE ${devices.key} = due.key`,
)

const statementsFor = (packing: Packing, guard: Guard) => ({
  insertLocations: insertLocations(packing, guard),
  appendEvents: appendEvents(packing, guard),
})

const ofPacking = (packing: Packing) => ({
  evaluated: statementsFor(packing, 'evaluated'),
  unevaluated: statementsFor(packing, 'unevaluated'),
  selectStored: selectStored(packing),
})

export const OF_ONE = { ...ofPacking(ONE), updateLastContact: updateContactOfOne }
export const OF_MANY = { ...ofPacking(MANY), updateLastContact: updateContactOfMany }
