import { findRow, query, readValue, updateRows } from '../../db/objectTable.ts'
import type { Account } from '../../domain/account/account.ts'
import { currentDay } from '../../domain/account/license.ts'
import { parseEmergencySettings, storeEmergencySettings } from '../../domain/message/emergency.ts'
import { parseMessageOverrides, storeMessageOverrides } from '../../domain/message/messageBudget.ts'
import { parseSandbox, storeSandbox } from '../../domain/sandbox/sandbox.ts'
import { sameJson } from '../../domain/text/json.ts'
import { type Day, dayStart } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import * as tables from '../tables.ts'
import { countEndingBetween } from './endings.ts'

/** Null if this ledger was never opened or has been erased: reading never creates an account. */
export const readAccountRow = (sql: SqlStorage): typeof tables.account.$inferSelect | null =>
  findRow(sql, tables.account, { erased: false }) ?? null

const toAccount = (row: typeof tables.account.$inferSelect): Account => {
  const { nextDevice, nextExpiry, eventsSeen, erased, disabled, emergency, ...members } = row
  const { locationsPerDay, storageBytes, maxUsers, messagesPerDay, ...others } = members
  const { requestsPerMinute, maxRetentionDays, maxZones, sandbox, ...account } = others
  const limits = { maxUsers, requestsPerMinute, maxRetentionDays, maxZones }
  return {
    ...account,
    budgets: {
      locationsPerDay,
      storageBytes,
      ...limits,
      messagesPerDay: parseMessageOverrides(messagesPerDay),
    },
    ...parseEmergencySettings(emergency),
    sandbox: parseSandbox(sandbox),
  }
}

export const readAccount = (sql: SqlStorage): Account | null => {
  const row = readAccountRow(sql)
  return row && toAccount(row)
}

/** The start of the first day on which a device expires whose expiry is not recorded yet. */
export const findNextExpiry = ({ sql, account }: Decision): number | null => {
  const { ends, recorded } = tables.devices
  const first = readValue<Day | null>(
    sql,
    query`SELECT min(${ends}) FROM ${tables.devices} WHERE ${ends} IS NOT NULL AND ${recorded} = 0`,
  )
  return first === null ? null : dayStart(first, account.timeZone)
}

/** Writes and posts a changed account. The only place that emits the license events. */
export const saveAccount = (tx: Decision): void => {
  const { sql, account } = tx
  const row = readAccountRow(sql)
  if (!row) return
  const before = toAccount(row)
  const nextExpiry = findNextExpiry(tx)
  if (row.nextExpiry === nextExpiry && sameJson(before, account)) return
  const { id, number, cell, userName, creation, budgets, ...changed } = account
  const emergency = storeEmergencySettings(account)
  const messagesPerDay = storeMessageOverrides(budgets.messagesPerDay)
  const disabled = account.status === 'disabled'
  const sandbox = storeSandbox(account.sandbox)
  const stored = { disabled, messagesPerDay, emergency, sandbox, nextExpiry }
  const columns = { ...changed, ...budgets, ...stored }
  updateRows(sql, tables.account, columns)
  tx.post({ kind: 'account', account, nextExpiry })
  const wasFull = before.used >= before.total
  const isFull = account.used >= account.total
  const licenses = { used: account.used, total: account.total }
  if (!wasFull && isFull) tx.emit('license.exhausted', null, licenses)
  if (wasFull && !isFull) tx.emit('license.available', null, licenses)
}

/** Moves `day` to today: licenses that ended in between are free at once, before any sweep. */
export const advanceToToday = (tx: Decision): void => {
  const { sql, account, now } = tx
  const today = currentDay(account, now)
  if (today === account.day) return
  account.used -= countEndingBetween(sql, account.day, today)
  account.day = today
  saveAccount(tx)
}
