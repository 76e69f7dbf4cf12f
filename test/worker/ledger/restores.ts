import { env } from 'cloudflare:workers'
import type { TestAccount } from '../../support/accounts.ts'
import { call, callAsOperator } from '../../support/http.ts'

const TABLES = [
  'accounts',
  'devices',
  'events',
  'event_heads',
  'tombstones',
  'erasures',
  'group_devices',
  'groups',
  'users',
  'keys',
  'directory',
  'cells',
  'sqlite_sequence',
] as const

/** Copies a database; the returned function restores it, as a restore of D1 alone does. */
export const snapshot = async (db: D1Database) => {
  const dump = await Promise.all(
    TABLES.map(
      async (table) => [table, (await db.prepare(`SELECT * FROM ${table}`).all()).results] as const,
    ),
  )
  return async () => {
    for (const [table, rows] of dump) {
      const inserts = rows.map((row) => {
        const names = Object.keys(row)
        return db
          .prepare(
            `INSERT INTO ${table} (${names.join(', ')}) VALUES (${names.map(() => '?').join(', ')})`,
          )
          .bind(...Object.values(row))
      })
      await db.batch([db.prepare(`DELETE FROM ${table}`), ...inserts])
    }
  }
}

export const names = async (account: TestAccount) =>
  (await account.call('GET', '/api/devices')).body.devices.map(({ name }: { name: string }) => name)
export const asToken =
  (token: string): TestAccount['call'] =>
  (method, path, given = {}) =>
    call(method, path, { token, ...given })
export const head = async (account: TestAccount) =>
  Number(
    (
      await env.DB.prepare('SELECT sequence FROM event_heads WHERE account_id = ?')
        .bind(account.id)
        .first()
    )?.sequence,
  )
export const reconcile = (account: TestAccount, body?: object) =>
  callAsOperator('POST', `/admin/accounts/${account.id}/reconcile`, body ? { body } : {})
export const NOTHING = {
  account: 0,
  devices: 0,
  removed: 0,
  usage: 0,
  directory: 0,
  events: 0,
  erased: 0,
}
