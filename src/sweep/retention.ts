import { type SQL, sql } from 'drizzle-orm'
import { alias } from 'drizzle-orm/sqlite-core'
import { deleteAlerts } from '../db/alerts.ts'
import type { Database } from '../db/open.ts'
import { accounts, alerts, devices, locations, sweepPositions } from '../db/schema.ts'
import { literal, names, readFirst, statement } from '../db/statement.ts'

/* Deletes locations and alerts that are older than their account keeps them (`retentionDays`). */

const DEVICES = 500
const LOCATION_PAGE = 5000
const ALERT_PAGE = 100
const MAX_PAGES = 50
/** The name under which `sweep_positions` stores how far this part has come. */
const PART = 'tracks'

const [a, d, l] = [alias(accounts, 'a'), alias(devices, 'd'), alias(locations, 'l')]
const oldAlert = alias(alerts, 'l')

/** The devices of one run, in the order of their keys. */
interface Slice {
  now: number
  /** The key before the first device. */
  after: number
  last: number
}

const isInSlice = ({ after, last }: Slice): SQL => sql`${d.key} > ${after} AND ${d.key} <= ${last}`
/** The time before which the account `a` keeps nothing. */
const cutoff = ({ now }: Slice): SQL => sql`${now} - ${a.retentionDays} * 86400000`

/** Keeps the last contact of devices whose last location is about to be deleted. */
const keepContacts = (db: Database, slice: Slice) => {
  const lastTime = sql`(SELECT max(${locations.time}) FROM ${locations}
    WHERE ${locations.deviceKey} = ${d.key})`
  const newer = sql`SELECT ${d.key} AS key, ${l.receivedAt} AS received_at FROM ${devices} ${d}
    JOIN ${accounts} ${a} ON ${a.id} = ${d.accountId}
    JOIN ${locations} ${l} ON ${l.deviceKey} = ${d.key} AND ${l.time} = ${lastTime}
    WHERE ${isInSlice(slice)} AND ${l.time} < ${cutoff(slice)}`
  return statement(
    db,
    sql`UPDATE ${devices} SET ${names(devices.lastContact)} = newer.received_at
      FROM (${newer}) newer WHERE ${devices.key} = newer.key
        AND ifnull(${devices.lastContact}, 0) < newer.received_at`,
  )
}

const deleteLocations = (db: Database, slice: Slice) => {
  const page = sql`SELECT ${l.deviceKey}, ${l.time} FROM ${devices} ${d}
    CROSS JOIN ${accounts} ${a} ON ${a.id} = ${d.accountId}
    CROSS JOIN ${locations} ${l} ON ${l.deviceKey} = ${d.key} AND ${l.time} < ${cutoff(slice)}
    WHERE ${isInSlice(slice)} LIMIT ${literal(LOCATION_PAGE)}`
  const key = names(locations.deviceKey, locations.time)
  return statement(db, sql`DELETE FROM ${locations} WHERE (${key}) IN (${page})`)
}

const selectOldAlerts = (slice: Slice): SQL =>
  sql`SELECT ${oldAlert.id}, ${oldAlert.accountId} FROM ${devices} ${d}
    CROSS JOIN ${accounts} ${a} ON ${a.id} = ${d.accountId}
    CROSS JOIN ${alerts} ${oldAlert}
      ON ${oldAlert.deviceKey} = ${d.key} AND ${oldAlert.time} < ${cutoff(slice)}
    WHERE ${isInSlice(slice)} ORDER BY ${d.key}, ${oldAlert.time}, ${oldAlert.id}
    LIMIT ${literal(ALERT_PAGE)}`

/** False when there was more than one run may delete. */
const trimSlice = async (db: Database, slice: Slice): Promise<boolean> => {
  const oldAlerts = selectOldAlerts(slice)
  for (let page = 0; (await deleteAlerts(db, oldAlerts)) === ALERT_PAGE; page++)
    if (page >= MAX_PAGES) return false
  await keepContacts(db, slice).run()
  const deletion = deleteLocations(db, slice)
  for (let page = 0; page < MAX_PAGES; page++)
    if ((await deletion.run()).meta.changes < LOCATION_PAGE) return true
  return false
}

const readPosition = async (db: Database): Promise<number> => {
  const found = await db.query.sweepPositions.findFirst({
    where: ({ part }, { eq }) => eq(part, PART),
  })
  return found?.position ?? 0
}

const savePosition = (db: Database, position: number) =>
  db
    .insert(sweepPositions)
    .values({ part: PART, position })
    .onConflictDoUpdate({ target: sweepPositions.part, set: { position } })

/**
 * Goes through the next few hundred devices in the order of their keys, and round again. A device
 * with nothing to delete costs one seek, however long its track.
 */
export const enforceRetention = async (db: Database, now: number): Promise<void> => {
  const after = await readPosition(db)
  const next = sql`SELECT ${devices.key} FROM ${devices} WHERE ${devices.key} > ${after}
    ORDER BY ${devices.key} LIMIT ${literal(DEVICES)}`
  const found = await readFirst(
    statement<{ last: number | null; count: number }>(
      db,
      sql`SELECT max(key) AS last, count(*) AS count FROM (${next})`,
    ),
  )
  const { last, count } = found ?? { last: null, count: 0 }
  if (last !== null && !(await trimSlice(db, { now, after, last }))) return
  const position = count < DEVICES ? 0 : (last ?? 0)
  if (position !== after) await savePosition(db, position)
}
