import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { isHere } from '../db/movedCell.ts'
import type { Database } from '../db/open.ts'
import { columnsOfWriter, newAuditId, type WriterColumns } from '../db/queries/audit.ts'
import { buildAppendToAccounts, isSubscribed, type NewEvent } from '../db/queries/events.ts'
import { CONTACT } from '../db/queries/rules/silence.ts'
import { type InferRow, insertSelect, select, selectIn } from '../db/query.ts'
import { accounts, alerts, audit, devices, events, pendingRaises, watches } from '../db/schema.ts'
import { compile, type Placeholders, readAll, runBatch } from '../db/statement.ts'
import type { PendingRaise } from '../domain/message/pendingRaise.ts'
import {
  checkAtOf,
  progressOf,
  type Watch,
  type WatchProgress,
  type WatchRecord,
} from '../domain/watch/watch.ts'

/* Watches with what their devices have sent, and how far they have come. */

export const WATCH_COLUMNS = {
  ...getTableColumns(watches),
  deviceId: devices.id,
  contact: CONTACT,
  /** Only of an alert that the ledger has raised and that is stored. */
  alertId: sql<string | null>`(SELECT ${alerts.id} FROM ${alerts}
    WHERE ${alerts.id} = ${watches.alertId})`,
}
/** A watch goes with its device. */
export const WATCHES_WITH_DEVICES = sql`${watches}
  CROSS JOIN ${devices} ON ${devices.key} = ${watches.deviceKey}`

type WatchRow = InferRow<typeof WATCH_COLUMNS>

export const toWatch = ({ record, checkAt: _, ...row }: WatchRow): Watch => ({ ...row, ...record })

/** The record, without the rest of a watch. */
export const recordOf = (watch: WatchRecord): WatchRecord => {
  const { name, due, everyMinutes, graceMinutes, counts, remindMinutes } = watch
  const { alertName, emergency, notifications } = watch
  const promise = { name, due, everyMinutes, graceMinutes, counts, remindMinutes }
  return { ...promise, alertName, emergency, notifications }
}

interface DuePage {
  now: number
  limit: number
}

/** The active ones whose time has come, longest ago first. */
const selectDue = compile((p: Placeholders<DuePage>) =>
  select(
    WATCH_COLUMNS,
    sql`FROM ${watches} INDEXED BY watches_active
      CROSS JOIN ${devices} ON ${devices.key} = ${watches.deviceKey}
      CROSS JOIN ${accounts} ON ${accounts.id} = ${watches.accountId} AND ${accounts.deletedAt} IS NULL
      WHERE ${watches.state} = 'active' AND ${watches.checkAt} <= ${p.now}
        AND ${isHere(watches.accountId)}
      ORDER BY ${watches.checkAt}, ${watches.id} LIMIT ${p.limit}`,
  ).map(toWatch),
)

interface OverduePage {
  /** What the page before ended with. */
  creation: number
  id: string
  limit: number
}

/** Overdue ones that any contact sets going again. */
const selectOverdue = compile((p: Placeholders<OverduePage>) =>
  select(
    WATCH_COLUMNS,
    sql`FROM ${watches} INDEXED BY watches_overdue
      CROSS JOIN ${devices} ON ${devices.key} = ${watches.deviceKey}
      WHERE ${watches.state} = 'overdue' AND ${watches.record} ->> '$.counts' = 'any'
        AND (${watches.creation}, ${watches.id}) > (${p.creation}, ${p.id})
        AND ${isHere(watches.accountId)}
      ORDER BY ${watches.creation}, ${watches.id} LIMIT ${p.limit}`,
  ).map(toWatch),
)

export const readDueWatches = (db: Database, page: DuePage): Promise<Watch[]> =>
  readAll(selectDue(db, page))

export const readOverdueWatches = (db: Database, page: OverduePage): Promise<Watch[]> =>
  readAll(selectOverdue(db, page))

/** What to record of one watch. */
export interface WatchChange {
  before: Watch
  progress: WatchProgress
  /** Where the deadline is moved; this is an edit, which increases the version. */
  due?: number
  /** When the sweep looks at it, if not at its next occasion. */
  checkAt?: number
  events: Omit<NewEvent, 'accountId' | 'deviceId'>[]
  raise: PendingRaise | null
  /** What somebody did, for the audit; the sweep and reports leave it out. */
  action?: 'checkedIn' | 'extended' | 'completed' | 'cancelled'
}

type Writing = Placeholders<{ changes: string; now: number }>
const member = (path: string) => sql`changed.value ->> ${sql.raw(`'$.${path}'`)}`

/** False when something else was written since the watch was read. */
const IS_UNCHANGED = sql`${watches.id} = ${member('id')}
  AND ${watches.version} = ${member('before.version')}
  AND ${watches.state} = ${member('before.state')} AND ${watches.since} = ${member('before.since')}
  AND ${watches.nextDue} = ${member('before.nextDue')}
  AND ${watches.reminded} IS ${member('before.reminded')}
  AND ${watches.lastCheckIn} IS ${member('before.lastCheckIn')}`
const HOLDS = sql`EXISTS (SELECT 1 FROM ${watches} WHERE ${IS_UNCHANGED})`

const listed = (path: string) => sql`listed.value ->> ${sql.raw(`'$.${path}'`)}`

/** The events of all changes that hold and that are not stored yet. */
const newEvents = (p: Writing): SQL => sql`SELECT ${member('accountId')} AS account_id,
    ${listed('id')} AS id, ${listed('type')} AS type, ${listed('time')} AS time,
    changed.key * 8 + listed.key AS place, ${member('deviceId')} AS device_id,
    listed.value -> '$.data' AS data
  FROM json_each(${p.changes}) changed, json_each(changed.value, '$.events') listed
  WHERE ${HOLDS} AND NOT EXISTS (SELECT 1 FROM ${events}
    WHERE ${events.accountId} = ${member('accountId')} AND ${events.id} = ${listed('id')})`
const takeNumbers = compile((p: Writing) => buildAppendToAccounts(newEvents(p))[0])
const insertEvents = compile((p: Writing) => buildAppendToAccounts(newEvents(p))[1])

const storeRaises = compile((p: Writing) =>
  selectIn({ id: sql<string>`id` }, (list) =>
    insertSelect(
      pendingRaises,
      {
        id: member('raise.alert.id'),
        accountId: member('accountId'),
        creation: p.now,
        raise: sql`changed.value -> '$.raise'`,
      },
      sql`FROM json_each(${p.changes}) changed
        WHERE ${member('raise.alert.id')} IS NOT NULL AND ${HOLDS}
        ON CONFLICT DO NOTHING RETURNING ${list}`,
    ),
  ),
)

/** What the audit says of steps that somebody takes. */
const auditSteps = compile((p: Placeholders<{ changes: string; now: number } & WriterColumns>) =>
  insertSelect(
    audit,
    {
      accountId: member('accountId'),
      id: member('audit.id'),
      at: p.now,
      actorType: p.actorType,
      actorId: p.actorId,
      actorName: p.actorName,
      action: member('audit.action'),
      resourceType: 'watch',
      resourceId: member('id'),
      changes: [],
      requestId: p.requestId,
      address: p.address,
    },
    sql`FROM json_each(${p.changes}) changed
      WHERE ${member('audit.id')} IS NOT NULL AND ${HOLDS} ON CONFLICT DO NOTHING`,
  ),
)

/** Must come last: the other statements look at the row before it. */
const updateWatches = compile((p: Writing) =>
  selectIn(
    { id: sql<string>`id` },
    (list) => sql`UPDATE ${watches} SET state = ${member('after.state')},
      since = ${member('after.since')}, next_due = ${member('after.nextDue')},
      reminded = ${member('after.reminded')}, last_check_in = ${member('after.lastCheckIn')},
      alert_id = ifnull(${member('raise.alert.id')}, ${watches.alertId}),
      check_at = ${member('checkAt')}, version = ${member('version')},
      record = changed.value -> '$.record',
      last_modified = ifnull(${member('lastModified')}, ${watches.lastModified})
    FROM json_each(${p.changes}) changed WHERE ${IS_UNCHANGED} RETURNING ${list}`,
  ),
)

const selectSubscribed = compile((p: Writing) =>
  select(
    { accountId: sql<string>`DISTINCT ${member('accountId')}` },
    sql`FROM json_each(${p.changes}) changed
      WHERE json_array_length(changed.value, '$.events') > 0
        AND ${isSubscribed(member('accountId'), p.now)}`,
  ),
)

const toJson = (change: WatchChange, now: number) => {
  const { before, progress, due, events: own, raise } = change
  const isEdit = due !== undefined
  const record = recordOf(isEdit && before.due !== null ? { ...before, due } : before)
  return {
    id: before.id,
    accountId: before.accountId,
    deviceId: before.deviceId,
    before: { ...progressOf(before), version: before.version },
    after: progress,
    record,
    checkAt: change.checkAt ?? checkAtOf(record, progress),
    version: before.version + (isEdit ? 1 : 0),
    lastModified: isEdit ? now : null,
    events: own,
    raise,
    audit: change.action ? { id: newAuditId(now), action: `watch.${change.action}` } : null,
  }
}

/** How many statements `writeWatches` runs for the sweep, whose writes the audit does not record. */
export const WRITE_WATCHES_QUERIES = 5

/**
 * Records the changes with their events and alerts, in one batch. What was changed by something else
 * since it was read is left as it is, without its events and alerts.
 */
export const writeWatches = async (db: Database, changes: WatchChange[], now: number) => {
  const values = { changes: JSON.stringify(changes.map((each) => toJson(each, now))), now }
  const { raised, written, subscribed } = await runBatch(db, {
    numbers: takeNumbers(db, values),
    events: insertEvents(db, values),
    raised: storeRaises(db, values),
    audited: db.writer && auditSteps(db, { ...values, ...columnsOfWriter(db.writer) }),
    written: updateWatches(db, values),
    subscribed: selectSubscribed(db, values),
  })
  const ids = (rows: { id: string }[]) => new Set(rows.map(({ id }) => id))
  return {
    /** The watches that were written. */
    written: ids(written.results),
    /** The alerts that this call stored. */
    raised: ids(raised.results),
    /** The accounts whose feed must be poked. */
    subscribed: subscribed.results.map(({ accountId }) => accountId),
  }
}
