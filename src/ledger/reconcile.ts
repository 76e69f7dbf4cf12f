import { openCell, openDirectory } from '../db/open.ts'
import type { Account } from '../domain/account.ts'
import type { Env } from '../env.ts'
import { readAccount, roll } from './books.ts'
import { type DeviceRow, toDevice } from './devices.ts'
import { post } from './outbox.ts'
import { accountColumns, deviceColumns } from './projection.ts'
import { usageOn } from './usage.ts'

/*
 * Which side wins: account, devices, licenses and counters are the ledger's; groups, users, keys, locations and alerts stand as
 * the cell has them. Event numbers jump ahead where the cell was set back, so that none is ever given out twice.
 */

/** How many rows of each kind were found to differ, and were written again or taken away. */
export interface Mended {
  account: number
  devices: number
  removed: number
  usage: number
  directory: number
  events: number
}

export type ReconcileOutcome =
  | { ok: true; checked: number; mended: Mended; next: number | null }
  | { ok: false; refusal: 'not-found'; erased: boolean }

const PAGE = 500
const EVENT_JUMP = 1_000_000

type Row = Record<string, string | number | null>

const differs = (row: Row | undefined, expected: Row): boolean =>
  !row || Object.entries(expected).some(([name, value]) => row[name] !== value)

interface Found {
  account: Row | undefined
  listed: boolean
  head: number
  devices: Row[]
}

const look = async (env: Env, account: Account, after: number, upTo: number): Promise<Found> => {
  const db = openCell(env, account.cell).$client
  const [accounts, heads, devices] = await db.batch<Row>([
    db.prepare('SELECT * FROM accounts WHERE id = ?').bind(account.id),
    db.prepare('SELECT sequence FROM event_heads WHERE account_id = ?').bind(account.id),
    db.prepare('SELECT * FROM devices WHERE key > ? AND key <= ? AND account_id = ?').bind(after, upTo, account.id),
  ])
  const listed = await openDirectory(env).$client.prepare('SELECT 1 FROM directory WHERE account_id = ?').bind(account.id).first()
  return {
    account: accounts?.results[0],
    listed: listed !== null,
    head: Number(heads?.results[0]?.sequence ?? 0),
    devices: devices?.results ?? [],
  }
}

const mendDevices = (sql: SqlStorage, account: Account, found: Row[], after: number, upTo: number, mended: Mended, now: number): number => {
  const rows = new Map(found.map((row) => [Number(row.key), row]))
  const own = sql.exec<DeviceRow>('SELECT * FROM devices WHERE key > ? AND key <= ?', after, upTo).toArray()
  for (const ledgerRow of own) {
    const device = toDevice(sql, account, ledgerRow)
    const row = rows.get(device.key)
    rows.delete(device.key)
    if (differs(row, deviceColumns(account.id, device))) {
      mended.devices++
      post(sql, { kind: 'device', accountId: account.id, device })
    }
    const usage = usageOn(sql, device.key, account.day)
    const shown = row?.usage_date === account.day ? [row.emails_sent, row.sms_sent] : [0, 0]
    if (shown[0] !== usage.emailsSent || shown[1] !== usage.smsSent) {
      mended.usage++
      post(sql, { kind: 'usage', key: device.key, usage })
    }
  }
  for (const [key, row] of rows) {
    mended.removed++
    post(sql, { kind: 'device-gone', accountId: account.id, id: String(row.id), key, at: now })
  }
  return own.length
}

const mendAccount = (sql: SqlStorage, account: Account, found: Found, restored: boolean, mended: Mended): void => {
  const { next_expiry: nextExpiry, events_seen: seen } = sql
    .exec<{ next_expiry: number | null; events_seen: number }>('SELECT next_expiry, events_seen FROM account')
    .one()
  if (differs(found.account, accountColumns(account, nextExpiry))) {
    mended.account++
    post(sql, { kind: 'account', account, nextExpiry })
  }
  if (!found.listed) {
    mended.directory++
    post(sql, { kind: 'directory', account })
  }
  if (restored || found.head < seen) {
    mended.events++
    post(sql, { kind: 'events-jump', accountId: account.id, to: Math.max(found.head, seen) + EVENT_JUMP })
  }
  post(sql, { kind: 'memberships', accountId: account.id })
}

/** The cell is read first, outside any transaction; what is posted is then the ledger's state at that moment, so a rival's change is never undone. */
export const reconcilePage = async (
  storage: DurableObjectStorage,
  env: Env,
  after: number,
  restored: boolean,
): Promise<ReconcileOutcome> => {
  const { sql } = storage
  const known = readAccount(sql)
  if (!known) return { ok: false, refusal: 'not-found', erased: sql.exec('SELECT 1 FROM account').toArray().length > 0 }
  const keys = sql.exec<{ key: number }>('SELECT key FROM devices WHERE key > ? ORDER BY key LIMIT ?', after, PAGE).toArray()
  const upTo = keys.length === PAGE ? (keys.at(-1)?.key ?? after) : Number.MAX_SAFE_INTEGER
  const found = await look(env, known, after, upTo)
  return storage.transactionSync(() => {
    const account = readAccount(sql)
    if (!account) return { ok: false, refusal: 'not-found', erased: true }
    const now = Date.now()
    roll(sql, account, now)
    const mended: Mended = { account: 0, devices: 0, removed: 0, usage: 0, directory: 0, events: 0 }
    if (after === 0) mendAccount(sql, account, found, restored, mended)
    const checked = mendDevices(sql, account, found.devices, after, upTo, mended, now)
    return { ok: true, checked, mended, next: keys.length === PAGE ? upTo : null }
  })
}
