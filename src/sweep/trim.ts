import type { Database } from '../db/open.ts'

const DAY = 86_400_000
const PAGE = 1000
const MAX_PAGES = 20

/** What is kept for how long, in each cell. */
const RULES = [
  { table: 'idempotency', key: 'account_id, principal, key', column: 'claimed_at', days: 1 },
  { table: 'keys', key: 'id', column: 'expires', days: 30 },
  { table: 'events', key: 'account_id, sequence', column: 'time', days: 30 },
  // What is told of the account itself; other messages go with their alert.
  { table: 'messages', key: 'account_id, id', column: 'device_key = 0 AND changed', days: 30 },
  { table: 'tombstones', key: 'account_id, id', column: 'creation', days: 30 },
] as const

export const trim = async (db: Database, now: number): Promise<void> => {
  for (const { table, key, column, days } of RULES) {
    const old = db.$client.prepare(
      `DELETE FROM ${table} WHERE (${key}) IN (SELECT ${key} FROM ${table} WHERE ${column} < ?1 LIMIT ${PAGE})`,
    )
    for (let page = 0; page < MAX_PAGES; page++) {
      const { meta } = await old.bind(now - days * DAY).run()
      if (meta.changes < PAGE) break
    }
  }
}
