import { eq, type SQL, sql } from 'drizzle-orm'
import { deleteAlerts } from '../db/alerts.ts'
import type { Database } from '../db/open.ts'
import { accounts, alerts, devices, locations, sweepPositions } from '../db/schema.ts'
import { literal, names, readFirst, statement } from '../db/statement.ts'

/* Deletes locations and alerts that are older than their account keeps them (`retentionDays`). */

const MAX_DEVICES_PER_RUN = 500
const LOCATION_PAGE = 5000
const ALERT_PAGE = 100
const MAX_PAGES = 50
/** The name under which `sweep_positions` stores how far this part has come. */
const PART = 'tracks'

/** The devices of one run, in the order of their keys. */
interface Slice {
  now: number
  /** The key before the first device. */
  after: number
  last: number
}

const isInSlice = ({ after, last }: Slice): SQL =>
  sql`${devices.key} > ${after} AND ${devices.key} <= ${last}`

/** Older locations and alerts of the account are deleted. */
const cutoff = ({ now }: Slice): SQL => sql`${now} - ${accounts.retentionDays} * 86400000`

/** Keeps the last contact of devices whose last location is about to be deleted. */
const keepContacts = (db: Database, slice: Slice) => {
  const lastTime = sql`(SELECT max(${locations.time}) FROM ${locations}
    WHERE ${locations.deviceKey} = ${devices.key})`
  const contacts = sql`SELECT ${devices.key} AS key, ${locations.receivedAt} AS received_at
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    JOIN ${locations} ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} = ${lastTime}
    WHERE ${isInSlice(slice)} AND ${locations.time} < ${cutoff(slice)}`
  return statement(
    db,
    sql`UPDATE ${devices} SET ${names(devices.lastContact)} = contact.received_at
      FROM (${contacts}) contact WHERE ${devices.key} = contact.key
        AND ifnull(${devices.lastContact}, 0) < contact.received_at`,
  )
}

const deleteLocations = (db: Database, slice: Slice) => {
  const page = sql`SELECT ${locations.deviceKey}, ${locations.time} FROM ${devices}
    CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    CROSS JOIN ${locations}
      ON ${locations.deviceKey} = ${devices.key} AND ${locations.time} < ${cutoff(slice)}
    WHERE ${isInSlice(slice)} LIMIT ${literal(LOCATION_PAGE)}`
  const key = names(locations.deviceKey, locations.time)
  return statement(db, sql`DELETE FROM ${locations} WHERE (${key}) IN (${page})`)
}

const selectOldAlerts = (slice: Slice): SQL =>
  sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${devices}
    CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    CROSS JOIN ${alerts}
      ON ${alerts.deviceKey} = ${devices.key} AND ${alerts.time} < ${cutoff(slice)}
    WHERE ${isInSlice(slice)} ORDER BY ${devices.key}, ${alerts.time}, ${alerts.id}
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
  const [found] = await db.select().from(sweepPositions).where(eq(sweepPositions.part, PART))
  return found?.position ?? 0
}

const savePosition = (db: Database, position: number) =>
  db
    .insert(sweepPositions)
    .values({ part: PART, position })
    .onConflictDoUpdate({ target: sweepPositions.part, set: { position } })

/**
 * Goes through the next devices in the order of their keys, and starts again after the last one. A
 * device with nothing to delete costs one seek, however long its track.
 */
export const enforceRetention = async (db: Database, now: number): Promise<void> => {
  const after = await readPosition(db)
  const next = sql`SELECT ${devices.key} FROM ${devices} WHERE ${devices.key} > ${after}
    ORDER BY ${devices.key} LIMIT ${literal(MAX_DEVICES_PER_RUN)}`
  const found = await readFirst(
    statement<{ last: number | null; count: number }>(
      db,
      sql`SELECT max(key) AS last, count(*) AS count FROM (${next})`,
    ),
  )
  const { last, count } = found ?? { last: null, count: 0 }
  if (last !== null && !(await trimSlice(db, { now, after, last }))) return
  const position = count < MAX_DEVICES_PER_RUN ? 0 : (last ?? 0)
  if (position !== after) await savePosition(db, position)
}
