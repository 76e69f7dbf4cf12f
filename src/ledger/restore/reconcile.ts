import { hasRow, query, runQuery, selectRows } from '../../db/objectTable.ts'
import * as cell from '../../db/schema.ts'
import type { Account } from '../../domain/account/account.ts'
import { deviceKey } from '../../domain/account/device.ts'
import type { Env } from '../../env.ts'
import { readAccount, readAccountRow } from '../accounts/accountRow.ts'
import { isImporting } from '../archive/importSession.ts'
import { beginDecision, type Decision } from '../decision.ts'
import { toDevice } from '../devices/devices.ts'
import { continueAfter } from '../outbox/outbox.ts'
import { toAccountColumns } from '../outbox/projection/accounts.ts'
import { toDeviceColumns, toUsageColumns } from '../outbox/projection/devices.ts'
import { differs } from '../outbox/projection/upsert.ts'
import { account as accountTable, devices } from '../tables.ts'
import { type CellState, readCellState } from './cellState.ts'
import { skipUsedDevices } from './restore.ts'

/*
 * Compares the cell with the ledger after either was restored to an earlier state. The ledger wins
 * for account, devices, licenses and counters; everything else stays as the cell has it. Numbers of
 * events and effects jump ahead of all that the other side has seen, so that none repeats.
 */

const NO_CORRECTIONS = { account: 0, devices: 0, removed: 0, usage: 0, directory: 0, events: 0 }
/** How many rows of each kind differed and were written again or removed. */
export type Corrections = typeof NO_CORRECTIONS

export type ReconcileOutcome =
  | { ok: true; checked: number; corrected: Corrections; next: number | null }
  | { ok: false; refusal: 'account-not-found'; erased: boolean }
  | { ok: false; refusal: 'user-name-taken' | 'account-number-taken' }

const MAX_PAGE_DEVICES = 500
const EVENT_JUMP = 1_000_000
/** More effects than a ledger can post in the 30 days that it can be restored by. */
const EFFECT_JUMP = 1_000_000_000

/** The counters of a device that has sent nothing today. */
const UNUSED = { [cell.devices.emailsSent.name]: 0, [cell.devices.smsSent.name]: 0 }

/** Moves the numbers of effects and devices past the cell's; a current ledger is ahead already. */
const skipUsedNumbers = (
  sql: SqlStorage,
  account: Account,
  state: CellState,
  isRestored: boolean,
): void => {
  const seen = [state.account, ...state.devices].map((row) => Number(row?.seq ?? 0))
  continueAfter(sql, Math.max(...seen) + (isRestored ? EFFECT_JUMP : 0))
  skipUsedDevices(sql, { nextDevice: state.lastKey - deviceKey(account.number, 0) + 1 })
}

/** Posts what differs; returns how many devices the ledger has after `after`, up to `upTo`. */
const correctDevices = (
  tx: Decision,
  state: CellState,
  { after, upTo }: { after: number; upTo: number },
  corrected: Corrections,
): number => {
  const { sql, account, now } = tx
  const rows = new Map(state.devices.map((row) => [Number(row.key), row]))
  const isOnPage = query`${devices.key} > ${after} AND ${devices.key} <= ${upTo}`
  const own = selectRows(sql, devices, isOnPage)
  for (const ledgerRow of own) {
    const device = toDevice(tx, ledgerRow)
    const { id, key, usage } = device
    const row = rows.get(key)
    rows.delete(key)
    if (differs(cell.devices, row, toDeviceColumns(account.id, device))) {
      corrected.devices++
      if (state.tombstoned.has(id)) tx.post({ kind: 'undelete', id })
      tx.post({ kind: 'device', device })
    }
    const isToday = row?.usage_date === account.day
    if (differs(cell.devices, isToday ? row : UNUSED, toUsageColumns(usage))) {
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
  const { nextExpiry = null, eventsSeen: seen = 0 } = readAccountRow(sql) ?? {}
  if (!state.account || !state.isListed) tx.post({ kind: 'undelete', id: account.id })
  if (differs(cell.accounts, state.account, toAccountColumns(account, nextExpiry))) {
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
    const erased = hasRow(sql, accountTable, { erased: true }) && !isImporting(sql)
    return { ok: false, refusal: 'account-not-found', erased }
  }
  const keys = runQuery<{ key: number; id: string }>(
    sql,
    query`SELECT ${devices.key}, ${devices.id} FROM ${devices} WHERE ${devices.key} > ${after}
      ORDER BY ${devices.key} LIMIT ${MAX_PAGE_DEVICES}`,
  ).toArray()
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
    const tx = beginDecision(sql, env, Date.now())
    if (!tx) return { ok: false, refusal: 'account-not-found', erased: true }
    const corrected = { ...NO_CORRECTIONS }
    if (after === 0) correctAccount(tx, state, isRestored, corrected)
    const checked = correctDevices(tx, state, { after, upTo }, corrected)
    return { ok: true, checked, corrected, next: upTo === Number.MAX_SAFE_INTEGER ? null : upTo }
  })
}
