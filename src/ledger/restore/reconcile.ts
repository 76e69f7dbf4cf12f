import type { Account } from '../../domain/account/account.ts'
import { deviceKey } from '../../domain/account/device.ts'
import type { Env } from '../../env.ts'
import { readAccount } from '../accounts/accountRow.ts'
import { beginDecision, type Decision } from '../decision.ts'
import { type DeviceRow, toDevice } from '../devices/devices.ts'
import { continueAfter } from '../outbox/outbox.ts'
import { toAccountColumns } from '../outbox/projection/accounts.ts'
import { toDeviceColumns } from '../outbox/projection/devices.ts'
import { type CellState, type Row, readCellState } from './cellState.ts'

/*
 * Compares the cell with the ledger after either was restored to an earlier state. The ledger wins
 * for account, devices, licenses and counters; everything else stays as the cell has it. Numbers of
 * events and effects jump ahead of all that the other side has seen, so that none repeats.
 */

/** How many rows of each kind differed and were written again or removed. */
export interface Corrections {
  account: number
  devices: number
  removed: number
  usage: number
  directory: number
  events: number
}

export type ReconcileOutcome =
  | { ok: true; checked: number; corrected: Corrections; next: number | null }
  | { ok: false; refusal: 'account-not-found'; erased: boolean }
  | { ok: false; refusal: 'user-name-taken' | 'account-number-taken' }

const MAX_PAGE_DEVICES = 500
const EVENT_JUMP = 1_000_000
/** More effects than a ledger can post in the 30 days that it can be restored by. */
const EFFECT_JUMP = 1_000_000_000

const differs = (row: Row | undefined, expected: Row): boolean =>
  !row || Object.entries(expected).some(([name, value]) => row[name] !== value)

/** Moves the numbers of effects and devices past the cell's; a current ledger is ahead already. */
const skipUsedNumbers = (
  sql: SqlStorage,
  account: Account,
  state: CellState,
  isRestored: boolean,
): void => {
  const seen = [state.account, ...state.devices].map((row) => Number(row?.seq ?? 0))
  continueAfter(sql, Math.max(...seen) + (isRestored ? EFFECT_JUMP : 0))
  sql.exec(
    'UPDATE account SET next_device = max(next_device, ?)',
    state.lastKey - deviceKey(account.number, 0) + 1,
  )
}

interface Page {
  /** The page has the keys after this one, up to `upTo`. */
  after: number
  upTo: number
}

/** Posts what differs; returns how many devices the ledger has on the page. */
const correctDevices = (
  tx: Decision,
  state: CellState,
  { after, upTo }: Page,
  corrected: Corrections,
): number => {
  const { sql, account, now } = tx
  const rows = new Map(state.devices.map((row) => [Number(row.key), row]))
  const own = sql
    .exec<DeviceRow>('SELECT * FROM devices WHERE key > ? AND key <= ?', after, upTo)
    .toArray()
  for (const ledgerRow of own) {
    const device = toDevice(tx, ledgerRow)
    const { id, key, usage } = device
    const row = rows.get(key)
    rows.delete(key)
    if (differs(row, toDeviceColumns(account.id, device))) {
      corrected.devices++
      if (state.tombstoned.has(id)) tx.post({ kind: 'undelete', id })
      tx.post({ kind: 'device', device })
    }
    const shown = row?.usage_date === account.day ? [row.emails_sent, row.sms_sent] : [0, 0]
    if (shown[0] !== usage.emailsSent || shown[1] !== usage.smsSent) {
      corrected.usage++
      tx.post({ kind: 'usage', key, usage })
    }
  }
  for (const [key, row] of rows) {
    corrected.removed++
    tx.post({ kind: 'device-gone', id: String(row.id), key, at: now })
  }
  return own.length
}

const correctAccount = (
  tx: Decision,
  state: CellState,
  isRestored: boolean,
  corrected: Corrections,
): void => {
  const { sql, account } = tx
  const { next_expiry: nextExpiry, events_seen: seen } = sql
    .exec<{ next_expiry: number | null; events_seen: number }>(
      'SELECT next_expiry, events_seen FROM account',
    )
    .one()
  if (!state.account || !state.isListed) tx.post({ kind: 'undelete', id: account.id })
  if (differs(state.account, toAccountColumns(account, nextExpiry))) {
    corrected.account++
    tx.post({ kind: 'account', account, nextExpiry })
  }
  if (!state.isListed) {
    corrected.directory++
    tx.post({ kind: 'directory', account })
  }
  if (isRestored || state.head < seen) {
    corrected.events++
    tx.post({ kind: 'events-jump', to: Math.max(state.head, seen) + EVENT_JUMP })
  }
  tx.post({ kind: 'memberships' })
}

/** Undoes no concurrent change: it reads the cell first, then posts the ledger's current state. */
export const reconcilePage = async (
  storage: DurableObjectStorage,
  env: Env,
  after: number,
  isRestored: boolean,
): Promise<ReconcileOutcome> => {
  const { sql } = storage
  const known = readAccount(sql)
  if (!known) {
    const erased = sql.exec('SELECT 1 FROM account').toArray().length > 0
    return { ok: false, refusal: 'account-not-found', erased }
  }
  const keys = sql
    .exec<{ key: number; id: string }>(
      'SELECT key, id FROM devices WHERE key > ? ORDER BY key LIMIT ?',
      after,
      MAX_PAGE_DEVICES,
    )
    .toArray()
  const isLastPage = keys.length < MAX_PAGE_DEVICES
  const lastKey = isLastPage ? Number.MAX_SAFE_INTEGER : (keys.at(-1)?.key ?? after)
  const ids = keys.map(({ id }) => id)
  const cellPage = { ids, after, upTo: lastKey, limit: MAX_PAGE_DEVICES }
  const state = await readCellState(env, known, cellPage)
  if (!state.isListed && state.taken) return { ok: false, refusal: state.taken }
  // The side with more devices ends the page.
  const isCellFull = state.devices.length === MAX_PAGE_DEVICES
  const upTo = isCellFull ? Math.min(lastKey, Number(state.devices.at(-1)?.key)) : lastKey
  return storage.transactionSync(() => {
    skipUsedNumbers(sql, known, state, isRestored && after === 0)
    const tx = beginDecision(sql, Date.now())
    if (!tx) return { ok: false, refusal: 'account-not-found', erased: true }
    const corrected: Corrections = {
      account: 0,
      devices: 0,
      removed: 0,
      usage: 0,
      directory: 0,
      events: 0,
    }
    if (after === 0) correctAccount(tx, state, isRestored, corrected)
    const checked = correctDevices(tx, state, { after, upTo }, corrected)
    return { ok: true, checked, corrected, next: upTo === Number.MAX_SAFE_INTEGER ? null : upTo }
  })
}
