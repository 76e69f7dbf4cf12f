import { and, asc, eq } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { erasures } from '../db/schema.ts'
import type { Env } from '../env.ts'
import { ledgerOf } from '../ledger/stub.ts'

const PAGE = 1000
const MOST_PAGES = 100
/** An account's order stands this long at least: another place may take a token for good, and write, for a while yet. */
const STRAGGLERS = 60_000

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
  tombstones: 'account_id, id',
  erasures: 'account_id, id',
} as const

/** Erases one page; false once nothing of the account is left but the order to erase it. */
const eraseAccountPage = async (db: D1Database, accountId: string): Promise<boolean> => {
  for (const [table, key] of Object.entries(ACCOUNT_TABLES)) {
    const page = `SELECT ${key} FROM ${table} WHERE account_id = ?1 ${table === 'erasures' ? 'AND id <> ?1' : ''} LIMIT ${PAGE}`
    const { meta } = await db.prepare(`DELETE FROM ${table} WHERE (${key}) IN (${page})`).bind(accountId).run()
    if (meta.changes > 0) return true
  }
  return false
}

/** Goes on where the last run stopped: however large, it is erased a page at a time. */
export const erasePages = async (env: Env, db: Database, now: number): Promise<void> => {
  let pages = 0
  const jobs = await db.select().from(erasures).orderBy(asc(erasures.creation)).limit(PAGE)
  for (const { id, accountId, deviceKey, creation } of jobs) {
    if (deviceKey === null) {
      while (await eraseAccountPage(db.$client, accountId)) if (++pages >= MOST_PAGES) return
      if (
        now - creation < STRAGGLERS ||
        !(await ledgerOf(env, accountId)
          .forget()
          .catch(() => false))
      )
        continue
    }
    await db.delete(erasures).where(and(eq(erasures.accountId, accountId), eq(erasures.id, id)))
    if (++pages >= MOST_PAGES) return
  }
}
