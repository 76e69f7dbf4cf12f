import { and, asc, between, eq, ne, sql } from 'drizzle-orm'
import { deleteAlerts } from '../db/alerts.ts'
import type { Database } from '../db/open.ts'
import {
  accounts,
  accountUsage,
  alerts,
  devices,
  erasures,
  eventHeads,
  events,
  groupDevices,
  groups,
  idempotency,
  keys,
  locations,
  messages,
  tombstones,
  users,
  webhooks,
} from '../db/schema.ts'
import { literal, readFirst, statement } from '../db/statement.ts'
import { keysBeside } from '../domain/device.ts'
import type { Env } from '../env.ts'
import { feedOf } from '../feed/stub.ts'
import { ledgerOf } from '../ledger/stub.ts'
import { deletePage } from './deletePage.ts'

const PAGE = 1000
const TRACK_PAGE = 5000
const ALERT_PAGE = 100
const MAX_PAGES = 100
/** Another isolate may accept a token of an erased account, and write, for up to 30 s. */
const LATE_WRITE_GRACE_MS = 60_000

/** Every table with rows of an account. A test fails when one with an `account_id` is missing. */
export const ACCOUNT_TABLES = [
  accountUsage,
  keys,
  idempotency,
  events,
  eventHeads,
  devices,
  groups,
  users,
  groupDevices,
  alerts,
  messages,
  tombstones,
  webhooks,
  erasures,
]

type DeviceKeys = [first: number, last: number]

/** Deletes one page of the tracks of these devices. False when none is left. */
const eraseTracksPage = async (db: Database, [first, last]: DeviceKeys): Promise<boolean> =>
  (await deletePage(db, locations, between(locations.deviceKey, first, last), TRACK_PAGE)) > 0

/** Deletes one page of a device's alerts with their messages. False when none is left. */
const eraseAlertsPage = async (db: Database, deviceKey: number): Promise<boolean> => {
  const page = sql`SELECT ${alerts.id}, ${alerts.accountId} FROM ${alerts}
    WHERE ${alerts.deviceKey} = ${deviceKey} ORDER BY ${alerts.time}, ${alerts.id}
    LIMIT ${literal(ALERT_PAGE)}`
  return (await deleteAlerts(db, page)) > 0
}

/** The range of an account's device keys, known from any of its devices. Null: no track is left. */
const findDeviceKeys = async (db: Database, accountId: string): Promise<DeviceKeys | null> => {
  const found = await readFirst(
    statement<{ key: number }>(
      db,
      sql`SELECT ${devices.key} AS key FROM ${devices} WHERE ${devices.accountId} = ${accountId}
        UNION ALL SELECT ${erasures.deviceKey} FROM ${erasures}
        WHERE ${erasures.accountId} = ${accountId} AND ${erasures.deviceKey} IS NOT NULL LIMIT 1`,
    ),
  )
  return found && keysBeside(found.key)
}

/** Deletes one page. False when nothing is left of the account but its own erasure. */
const eraseAccountPage = async (db: Database, accountId: string): Promise<boolean> => {
  const deviceKeys = await findDeviceKeys(db, accountId)
  if (deviceKeys && (await eraseTracksPage(db, deviceKeys))) return true
  for (const table of ACCOUNT_TABLES) {
    const isOfAccount = eq(table.accountId, accountId)
    const where = table === erasures ? and(isOfAccount, ne(erasures.id, accountId)) : isOfAccount
    if ((await deletePage(db, table, where ?? isOfAccount, PAGE)) > 0) return true
  }
  return false
}

/** Deletes the storage of the account's two Durable Objects. False when the ledger refuses. */
const eraseObjects = async (env: Env, accountId: string): Promise<boolean> => {
  await feedOf(env, accountId).forget()
  return ledgerOf(env, accountId).forget()
}

/** Runs the erasures, oldest first. A long one continues in the next run. */
export const runErasures = async (env: Env, db: Database, now: number): Promise<void> => {
  let pages = 0
  const jobs = await db.select().from(erasures).orderBy(asc(erasures.creation)).limit(PAGE)
  for (const { id, accountId, deviceKey, creation } of jobs) {
    if (deviceKey === null) {
      while (await eraseAccountPage(db, accountId)) if (++pages >= MAX_PAGES) return
      const isSettled = now - creation >= LATE_WRITE_GRACE_MS
      if (!isSettled || !(await eraseObjects(env, accountId).catch(() => false))) continue
    } else {
      while (await eraseTracksPage(db, [deviceKey, deviceKey])) if (++pages >= MAX_PAGES) return
      while (await eraseAlertsPage(db, deviceKey)) if (++pages >= MAX_PAGES) return
    }
    await db.batch([
      db.delete(erasures).where(and(eq(erasures.accountId, accountId), eq(erasures.id, id))),
      // While its erasure exists, no late write restores the account's row. For a device's erasure
      // `id` is no account's id, and this deletes nothing.
      db.delete(accounts).where(eq(accounts.id, id)),
    ])
    if (++pages >= MAX_PAGES) return
  }
}
