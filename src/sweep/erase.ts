import { and, asc, eq, sql } from 'drizzle-orm'
import { deleteAlerts } from '../db/alerts.ts'
import type { Database } from '../db/open.ts'
import { accounts, alerts, erasures } from '../db/schema.ts'
import { keysBeside } from '../domain/device.ts'
import type { Env } from '../env.ts'
import { feedOf } from '../feed/stub.ts'
import { ledgerOf } from '../ledger/stub.ts'

const PAGE = 1000
const MAX_PAGES = 100
/** An account's order stands this long at least: another place may take a token for good, and write, for a while yet. */
const LATE_WRITE_GRACE_MS = 60_000

/** The tables that hold rows of an account, and what their rows are found by. A test fails when a table with an `account_id` is missing here. */
export const ACCOUNT_TABLES = {
  keys: 'id',
  idempotency: 'account_id, principal, key',
  events: 'account_id, sequence',
  event_heads: 'account_id',
  devices: 'key',
  groups: 'id',
  users: 'id',
  group_devices: 'group_id, device_key',
  alerts: 'id',
  messages: 'account_id, id',
  tombstones: 'account_id, id',
  webhooks: 'id',
  erasures: 'account_id, id',
} as const

const TRACK_PAGE = 5000
const ALERT_PAGE = 100

/** Erases one page of the tracks under these keys; false once there is none left. */
const eraseTracksPage = async (
  db: D1Database,
  [first, last]: [number, number],
): Promise<boolean> => {
  const page = `SELECT device_key, time FROM locations WHERE device_key BETWEEN ?1 AND ?2 LIMIT ${TRACK_PAGE}`
  const { meta } = await db
    .prepare(`DELETE FROM locations WHERE (device_key, time) IN (${page})`)
    .bind(first, last)
    .run()
  return meta.changes > 0
}

/** Erases one page of a device's alerts, with their messages; false once there is none left. */
const eraseAlertsPage = async (db: Database, deviceKey: number): Promise<boolean> => {
  const page = sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${alerts}
    WHERE ${alerts.deviceKey} = ${deviceKey} ORDER BY ${alerts.time}, ${alerts.id} LIMIT ${ALERT_PAGE}`
  return (await deleteAlerts(db, page)) > 0
}

/** An account's tracks lie side by side, and any device of it tells where; without one there is no track left. */
const accountKeys = async (db: D1Database, accountId: string): Promise<[number, number] | null> => {
  const key = await db
    .prepare(
      `SELECT key FROM devices WHERE account_id = ?1 UNION ALL
       SELECT device_key FROM erasures WHERE account_id = ?1 AND device_key IS NOT NULL LIMIT 1`,
    )
    .bind(accountId)
    .first<number>('key')
  return key === null ? null : keysBeside(key)
}

/** Erases one page; false once nothing of the account is left but the order to erase it. */
const eraseAccountPage = async (db: D1Database, accountId: string): Promise<boolean> => {
  const keys = await accountKeys(db, accountId)
  if (keys && (await eraseTracksPage(db, keys))) return true
  for (const [table, key] of Object.entries(ACCOUNT_TABLES)) {
    const page = `SELECT ${key} FROM ${table} WHERE account_id = ?1 ${table === 'erasures' ? 'AND id <> ?1' : ''} LIMIT ${PAGE}`
    const { meta } = await db
      .prepare(`DELETE FROM ${table} WHERE (${key}) IN (${page})`)
      .bind(accountId)
      .run()
    if (meta.changes > 0) return true
  }
  return false
}

/** The account's two objects: what they keep goes last. */
const forgetObjects = async (env: Env, accountId: string): Promise<boolean> => {
  await feedOf(env, accountId).forget()
  return ledgerOf(env, accountId).forget()
}

/** Goes on where the last run stopped: however large, it is erased a page at a time. */
export const erasePages = async (env: Env, db: Database, now: number): Promise<void> => {
  let pages = 0
  const jobs = await db.select().from(erasures).orderBy(asc(erasures.creation)).limit(PAGE)
  for (const { id, accountId, deviceKey, creation } of jobs) {
    if (deviceKey === null) {
      while (await eraseAccountPage(db.$client, accountId)) if (++pages >= MAX_PAGES) return
      if (
        now - creation < LATE_WRITE_GRACE_MS ||
        !(await forgetObjects(env, accountId).catch(() => false))
      )
        continue
    } else {
      while (await eraseTracksPage(db.$client, [deviceKey, deviceKey]))
        if (++pages >= MAX_PAGES) return
      while (await eraseAlertsPage(db, deviceKey)) if (++pages >= MAX_PAGES) return
    }
    await db.batch([
      db.delete(erasures).where(and(eq(erasures.accountId, accountId), eq(erasures.id, id))),
      // Only while the order stands does it keep a late write of the account's row away. A device's id is no account's.
      db.delete(accounts).where(eq(accounts.id, id)),
    ])
    if (++pages >= MAX_PAGES) return
  }
}
