import { insertRow, query, runQuery, updateRows } from '../../db/objectTable.ts'
import { type Account, DEFAULT_RETENTION_DAYS, NO_LIMITS } from '../../domain/account/account.ts'
import type { DeviceRecord } from '../../domain/account/device.ts'
import { canGrant } from '../../domain/account/license.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import {
  DEFAULT_EMERGENCY_SETTINGS,
  type EmergencySettings,
  escalationOf,
} from '../../domain/message/emergency.ts'
import { type MessageCounts, storeMessageOverrides } from '../../domain/message/messageBudget.ts'
import {
  SANDBOX_BUDGETS,
  SANDBOX_DAYS,
  sandboxEnd,
  storeSandbox,
} from '../../domain/sandbox/sandbox.ts'
import { sameJson } from '../../domain/text/json.ts'
import { localDay } from '../../domain/time/day.ts'
import { findLastDrill, type LastDrill } from '../alerts/drills.ts'
import { renewAgainAt } from '../alerts/emergencies.ts'
import type { Decision } from '../decision.ts'
import { postUsage } from '../devices/usage.ts'
import { sentToday } from '../messages/messageBudget.ts'
import { post } from '../outbox/outbox.ts'
import * as tables from '../tables.ts'
import { saveAccount } from './accountRow.ts'
import { countEndingBetween } from './endings.ts'
import { recordAllExpirations } from './expirations.ts'
import { type NoLicense, refuseLicense } from './licenseTransfer.ts'

/* Decisions about the account itself. */

export type AccountRefusal =
  | { ok: false; refusal: 'account-not-found' | 'precondition-failed' }
  | NoLicense
/**
 * `sent`: the messages of the account's day, as the operator's budgets count them. `lastDrill`: the
 * last test of the emergency chain.
 */
export type AccountOutcome =
  | { ok: true; account: Account; sent: MessageCounts; lastDrill: LastDrill | null }
  | AccountRefusal

export interface Opening
  extends Pick<Account, 'id' | 'number' | 'cell' | 'userName' | 'name' | 'timeZone' | 'total'> {
  /** Of a sandbox, which has limits and devices of its own from the start. */
  sandbox?: {
    of: string | null
    devices: { id: string; record: DeviceRecord }[]
  }
}
export type AccountChange = Partial<
  Pick<
    Account,
    | 'name'
    | 'timeZone'
    | 'total'
    | 'status'
    | 'statusMessage'
    | 'supportMayWrite'
    | 'retentionDays'
    | 'budgets'
  > &
    EmergencySettings
>

export const openAccount = (
  sql: SqlStorage,
  { sandbox, ...opening }: Opening,
  now: number,
): void => {
  const account: Account = {
    ...opening,
    day: localDay(now, opening.timeZone),
    used: 0,
    status: 'active',
    statusMessage: '',
    deletedAt: null,
    supportMayWrite: false,
    sandbox: sandbox ? { of: sandbox.of, erasesAt: sandboxEnd(now) } : null,
    retentionDays: sandbox ? SANDBOX_DAYS : DEFAULT_RETENTION_DAYS,
    budgets: sandbox ? SANDBOX_BUDGETS : NO_LIMITS,
    ...DEFAULT_EMERGENCY_SETTINGS,
    creation: now,
    lastModified: now,
    version: 1,
  }
  const { budgets, ...columns } = account
  insertRow(sql, tables.account, {
    ...columns,
    ...budgets,
    messagesPerDay: storeMessageOverrides(budgets.messagesPerDay),
    sandbox: storeSandbox(account.sandbox),
    disabled: false,
  })
  post(sql, { kind: 'account', account, nextExpiry: null })
}

export const acceptAccount = (tx: Decision): AccountOutcome => ({
  ok: true,
  account: tx.account,
  sent: sentToday(tx),
  lastDrill: findLastDrill(tx.sql),
})

/** An account keeps nothing for longer than the operator allows, even if it was allowed before. */
const withAllowedRetention = (account: Account, change: AccountChange): AccountChange => {
  const { retentionDays, budgets } = { ...account, ...change }
  const { maxRetentionDays: max } = budgets
  return max === null || retentionDays <= max ? change : { ...change, retentionDays: max }
}

/** `versions`: the ones that If-Match names, compared at the moment of the write. */
export const editAccount = (
  tx: Decision,
  asked: AccountChange,
  versions: number[] | null,
): AccountOutcome => {
  const { account, now } = tx
  const change = withAllowedRetention(account, asked)
  if (versions && !versions.includes(account.version))
    return { ok: false, refusal: 'precondition-failed' }
  const { timeZone = account.timeZone, total = account.total } = change
  const before = { ...account }
  if (timeZone !== account.timeZone) {
    const refusal = changeZone(tx, timeZone)
    if (refusal) return refusal
  }
  const isTotalChanged = total !== account.total
  if (sameJson(before, { ...account, ...change })) return acceptAccount(tx)
  Object.assign(account, change, { lastModified: now, version: account.version + 1 })
  if (isTotalChanged) tx.log('total-changed', null)
  tx.audit('account.updated', { type: 'account', id: account.id }, changesBetween(before, change))
  saveAccount(tx)
  const { againAfterMinutes = null } = escalationOf(account) ?? {}
  if (againAfterMinutes !== (escalationOf(before)?.againAfterMinutes ?? null)) renewAgainAt(tx)
  // Posted after the account: a large account's counters must not delay its new zone.
  if (account.day !== before.day) postUsageOfDay(tx)
  return acceptAccount(tx)
}

/**
 * Posts the counters of the account's day again: a zone change can return to a day that was used
 * before, and the cell holds one day per device. Rows are streamed, as there may be many.
 */
export const postUsageOfDay = (tx: Decision): void => {
  const { key } = tables.devices
  const { deviceKey, day, sent } = tables.messageCounts
  const used = runQuery<{ key: number }>(
    tx.sql,
    query`SELECT ${key} FROM ${tables.devices} WHERE EXISTS (SELECT 1 FROM ${tables.messageCounts}
      WHERE ${deviceKey} = ${key} AND ${day} = ${tx.account.day} AND ${sent} > 0)`,
  )
  for (const device of used) postUsage(tx, device.key)
}

/**
 * A zone where it is still yesterday revives devices: all of them get a license or none does. What
 * has expired is recorded before, and what expires by it at the same time: license-days are computed
 * from the log.
 */
const changeZone = (tx: Decision, timeZone: string): NoLicense | null => {
  const { sql, account, now } = tx
  const day = localDay(now, timeZone)
  const revived = countEndingBetween(sql, day, account.day)
  const ended = countEndingBetween(sql, account.day, day)
  if (revived > 0 && !canGrant(account, revived)) return refuseLicense(tx, null)
  recordAllExpirations(tx)
  if (revived > 0) {
    const { ends } = tables.devices
    const isRevived = query`${ends} > ${day} AND ${ends} <= ${account.day}`
    updateRows(sql, tables.devices, { recorded: false }, isRevived)
    tx.emit('device.reactivated', null, { devices: revived, timeZone })
  }
  account.used += revived - ended
  account.timeZone = timeZone
  account.day = day
  recordAllExpirations(tx, now)
  tx.log('zone-changed', null)
  return null
}
