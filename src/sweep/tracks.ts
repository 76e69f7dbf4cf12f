import { sql } from 'drizzle-orm'
import { deleteAlerts } from '../db/alerts.ts'
import type { Database } from '../db/open.ts'
import { accounts, alerts, devices } from '../db/schema.ts'

const DEVICES = 500
const PAGE = 5000
const ALERT_PAGE = 100
const MAX_PAGES = 50

/** ?1 now; ?2, ?3 the keys before the first device of a stretch and of its last. */
const CUTOFF = '?1 - a.retention_days * 86400000'
const STRETCH = 'd.key > ?2 AND d.key <= ?3'

/** When a device's last location goes too, the device still tells when it was last heard of. */
const KEEP_CONTACT = `UPDATE devices SET last_contact = heard.received_at FROM (
    SELECT d.key, l.received_at FROM devices d JOIN accounts a ON a.id = d.account_id JOIN locations l
      ON l.device_key = d.key AND l.time = (SELECT max(time) FROM locations WHERE device_key = d.key)
    WHERE ${STRETCH} AND l.time < ${CUTOFF}) heard
  WHERE devices.key = heard.key AND ifnull(devices.last_contact, 0) < heard.received_at`

const TRIM = `DELETE FROM locations WHERE (device_key, time) IN (
    SELECT l.device_key, l.time FROM devices d CROSS JOIN accounts a ON a.id = d.account_id
      CROSS JOIN locations l ON l.device_key = d.key AND l.time < ${CUTOFF}
    WHERE ${STRETCH} LIMIT ${PAGE})`

const oldAlerts = (now: number, after: number, last: number) =>
  sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${devices}
      CROSS JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
      CROSS JOIN ${alerts} ON ${alerts.deviceKey} = ${devices.key}
        AND ${alerts.time} < ${now} - ${accounts.retentionDays} * 86400000
    WHERE ${devices.key} > ${after} AND ${devices.key} <= ${last}
    ORDER BY ${devices.key}, ${alerts.time}, ${alerts.id} LIMIT ${ALERT_PAGE}`

/** False where there was more than may be trimmed in one run. */
const trimStretch = async (
  database: Database,
  now: number,
  after: number,
  last: number,
): Promise<boolean> => {
  const db = database.$client
  const old = oldAlerts(now, after, last)
  for (let page = 0; (await deleteAlerts(database, old)) === ALERT_PAGE; page++)
    if (page >= MAX_PAGES) return false
  await db.prepare(KEEP_CONTACT).bind(now, after, last).run()
  const trim = db.prepare(TRIM).bind(now, after, last)
  for (let page = 0; page < MAX_PAGES; page++)
    if ((await trim.run()).meta.changes < PAGE) return true
  return false
}

const readPosition = async (db: D1Database): Promise<number> =>
  (await db
    .prepare("SELECT position FROM sweep_positions WHERE part = 'tracks'")
    .first<number>('position')) ?? 0

const savePosition = (db: D1Database, position: number) =>
  db
    .prepare(
      "INSERT INTO sweep_positions (part, position) VALUES ('tracks', ?1) ON CONFLICT (part) DO UPDATE SET position = ?1",
    )
    .bind(position)
    .run()

/**
 * Trims what accounts no longer keep. Each run takes the next few hundred devices, in the order of their keys and round
 * again: where nothing is due a device costs one seek, however long its track.
 */
export const trimTracks = async (database: Database, now: number): Promise<void> => {
  const db = database.$client
  const after = await readPosition(db)
  const { last, count } = (await db
    .prepare(
      `SELECT max(key) AS last, count(*) AS count FROM (SELECT key FROM devices WHERE key > ? ORDER BY key LIMIT ${DEVICES})`,
    )
    .bind(after)
    .first<{ last: number | null; count: number }>()) ?? { last: null, count: 0 }
  if (last !== null && !(await trimStretch(database, now, after, last))) return
  const position = count < DEVICES ? 0 : (last ?? 0)
  if (position !== after) await savePosition(db, position)
}
