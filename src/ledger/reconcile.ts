import type { Account } from '../domain/account.ts'
import { deviceKey } from '../domain/device.ts'
import type { Env } from '../env.ts'
import { advanceToToday, readAccount } from './books.ts'
import { type CellState, type Row, readCellState } from './cellState.ts'
import { type DeviceRow, toDevice } from './devices.ts'
import { numberBeyond, post } from './outbox.ts'
import { accountColumns, deviceColumns } from './projection.ts'
import { usageOn } from './usage.ts'

/*
 * Which side wins: account, devices, licenses and counters are the ledger's; groups, users, keys, locations and alerts stand as
 * the cell has them. Event numbers jump ahead where the cell was set back, so that none is ever given out twice. Where the ledger
 * was set back, its own numbers go on from beyond all that the cell has seen.
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
  | { ok: false; refusal: 'user-name-taken' | 'account-number-taken' }

const PAGE = 500
const EVENT_JUMP = 1_000_000

const differs = (row: Row | undefined, expected: Row): boolean =>
  !row || Object.entries(expected).some(([name, value]) => row[name] !== value)

/** Beyond what a ledger can have posted in the 30 days that it can be set back by. */
const EFFECT_JUMP = 1_000_000_000

/** Does nothing to a ledger that was not set back. */
const catchUp = (sql: SqlStorage, account: Account, found: CellState, restored: boolean): void => {
  const seen = [found.account, ...found.devices].map((row) => Number(row?.seq ?? 0))
  numberBeyond(sql, Math.max(...seen) + (restored ? EFFECT_JUMP : 0))
  sql.exec(
    'UPDATE account SET next_device = max(next_device, ?)',
    found.lastKey - deviceKey(account.number, 0) + 1,
  )
}

const mendDevices = (
  sql: SqlStorage,
  account: Account,
  found: CellState,
  after: number,
  upTo: number,
  mended: Mended,
  now: number,
): number => {
  const rows = new Map(found.devices.map((row) => [Number(row.key), row]))
  const own = sql
    .exec<DeviceRow>('SELECT * FROM devices WHERE key > ? AND key <= ?', after, upTo)
    .toArray()
  for (const ledgerRow of own) {
    const device = toDevice(sql, account, ledgerRow)
    const row = rows.get(device.key)
    rows.delete(device.key)
    if (differs(row, deviceColumns(account.id, device))) {
      mended.devices++
      if (found.tombstoned.has(device.id))
        post(sql, { kind: 'undelete', accountId: account.id, id: device.id })
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

const mendAccount = (
  sql: SqlStorage,
  account: Account,
  found: CellState,
  restored: boolean,
  mended: Mended,
): void => {
  const { next_expiry: nextExpiry, events_seen: seen } = sql
    .exec<{ next_expiry: number | null; events_seen: number }>(
      'SELECT next_expiry, events_seen FROM account',
    )
    .one()
  if (!found.account || !found.listed)
    post(sql, { kind: 'undelete', accountId: account.id, id: account.id })
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
    post(sql, {
      kind: 'events-jump',
      accountId: account.id,
      to: Math.max(found.head, seen) + EVENT_JUMP,
    })
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
  if (!known)
    return {
      ok: false,
      refusal: 'not-found',
      erased: sql.exec('SELECT 1 FROM account').toArray().length > 0,
    }
  const keys = sql
    .exec<{ key: number; id: string }>(
      'SELECT key, id FROM devices WHERE key > ? ORDER BY key LIMIT ?',
      after,
      PAGE,
    )
    .toArray()
  const upTo = keys.length === PAGE ? (keys.at(-1)?.key ?? after) : Number.MAX_SAFE_INTEGER
  const found = await readCellState(
    env,
    known,
    keys.map(({ id }) => id),
    after,
    upTo,
    PAGE,
  )
  if (!found.listed && found.taken) return { ok: false, refusal: found.taken }
  // Whichever side has more of them, a page is bounded.
  const end =
    found.devices.length === PAGE ? Math.min(upTo, Number(found.devices.at(-1)?.key)) : upTo
  return storage.transactionSync(() => {
    const account = readAccount(sql)
    if (!account) return { ok: false, refusal: 'not-found', erased: true }
    const now = Date.now()
    catchUp(sql, account, found, restored && after === 0)
    advanceToToday(sql, account, now)
    const mended: Mended = { account: 0, devices: 0, removed: 0, usage: 0, directory: 0, events: 0 }
    if (after === 0) mendAccount(sql, account, found, restored, mended)
    const checked = mendDevices(sql, account, found, after, end, mended, now)
    return { ok: true, checked, mended, next: end === Number.MAX_SAFE_INTEGER ? null : end }
  })
}
