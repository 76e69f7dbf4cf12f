import { type Account, DEFAULT_RETENTION_DAYS } from '../domain/account.ts'
import { type Day, localDay } from '../domain/day.ts'
import { sameJson } from '../domain/json.ts'
import { mayGrant } from '../domain/license.ts'
import { countRevived, emit, log, saveAccount, whenAvailable } from './books.ts'
import { recordExpirations } from './expirations.ts'
import { post } from './outbox.ts'

/* Decisions about the account itself. Synchronous, inside the caller's transaction, on an account rolled to now. */

export type AccountRefusal =
  | { ok: false; refusal: 'not-found' | 'precondition-failed' }
  | { ok: false; refusal: 'no-license-available'; availableAt: number | null }
export type AccountOutcome = { ok: true; account: Account } | AccountRefusal

export type Opening = Pick<
  Account,
  'id' | 'number' | 'cell' | 'userName' | 'name' | 'timeZone' | 'total'
>
export type AccountChange = Partial<
  Pick<Account, 'name' | 'timeZone' | 'total' | 'disabled' | 'retentionDays'>
>

export const openAccount = (sql: SqlStorage, opening: Opening, now: number): void => {
  const { id, number, cell, userName, name, timeZone, total } = opening
  const day = localDay(now, timeZone)
  sql.exec(
    `INSERT INTO account (id, number, cell, user_name, name, time_zone, day, total, used, disabled, retention_days, creation, last_modified, version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, 0, 0, ?, ?, ?, 1)`,
    id,
    number,
    cell,
    userName,
    name,
    timeZone,
    day,
    total,
    DEFAULT_RETENTION_DAYS,
    now,
    now,
  )
  const retentionDays = DEFAULT_RETENTION_DAYS
  const account = {
    ...opening,
    day,
    used: 0,
    disabled: false,
    retentionDays,
    creation: now,
    lastModified: now,
    version: 1,
  }
  post(sql, { kind: 'account', account, nextExpiry: null })
}

export const changeAccount = (
  sql: SqlStorage,
  account: Account,
  change: AccountChange,
  versions: number[] | null,
  now: number,
): AccountOutcome => {
  if (versions && !versions.includes(account.version))
    return { ok: false, refusal: 'precondition-failed' }
  const { timeZone = account.timeZone, total = account.total } = change
  const before = { ...account }
  if (timeZone !== account.timeZone) {
    const refusal = changeZone(sql, account, timeZone, now)
    if (refusal) return refusal
  }
  const totalChanged = total !== account.total
  if (sameJson(before, { ...account, ...change })) return { ok: true, account }
  Object.assign(account, change, { lastModified: now, version: account.version + 1 })
  if (totalChanged) log(sql, account, 'total-changed', null, now)
  saveAccount(sql, account, now)
  // After the account, so that nothing waits for the counters of a large one to know its zone.
  if (account.day !== before.day) showUsage(sql, account.day)
  return { ok: true, account }
}

/**
 * The cell has one day's counters of a device, the last that it was told of: those of a day that was used before are told
 * again. Many as they may be, none is held in memory, and the outbox carries them out in pages.
 */
const showUsage = (sql: SqlStorage, day: Day): void => {
  const used = sql.exec<{ key: number; emails: number; sms: number }>(
    'SELECT d.key, u.emails, u.sms FROM devices d CROSS JOIN usage u ON u.device_key = d.key AND u.day = ? WHERE u.emails > 0 OR u.sms > 0',
    day,
  )
  for (const { key, emails, sms } of used)
    post(sql, { kind: 'usage', key, usage: { date: day, emailsSent: emails, smsSent: sms } })
}

const PAGE = 200

/** West across midnight it is yesterday again: what that brings back needs licenses, all of them or the change is refused. */
const changeZone = (
  sql: SqlStorage,
  account: Account,
  timeZone: string,
  now: number,
): AccountRefusal | null => {
  const day = localDay(now, timeZone)
  const revived = day < account.day ? countRevived(sql, account, day) : 0
  if (revived > 0 && !mayGrant(account, revived)) {
    log(sql, account, 'refused', null, now)
    return { ok: false, refusal: 'no-license-available', availableAt: whenAvailable(sql, account) }
  }
  const ended = day > account.day ? countRevived(sql, { ...account, day }, account.day) : 0
  if (revived > 0) {
    while (recordExpirations(sql, account, PAGE, now).more);
    sql.exec('UPDATE devices SET recorded = 0 WHERE ends > ? AND ends <= ?', day, account.day)
    emit(sql, account.id, 'device.reactivated', now, null, { devices: revived, timeZone })
  }
  account.used += revived - ended
  account.timeZone = timeZone
  account.day = day
  log(sql, account, 'zone-changed', null, now)
  return null
}

/** Unreachable from here on; the rows go in pages. */
export const eraseAccount = (
  sql: SqlStorage,
  account: Account,
  versions: number[] | null,
  now: number,
): { ok: true } | AccountRefusal => {
  if (versions && !versions.includes(account.version))
    return { ok: false, refusal: 'precondition-failed' }
  sql.exec('UPDATE account SET erased = 1')
  for (const table of ['outbox', 'messages', 'receipts', 'raised']) sql.exec(`DELETE FROM ${table}`)
  post(sql, { kind: 'account-gone', accountId: account.id, at: now })
  post(sql, { kind: 'directory-gone', accountId: account.id, cell: account.cell })
  return { ok: true }
}

/** What remains of an erased account: that its id was one, so that a restored database can be told from a lost ledger. */
export const markErased = (sql: SqlStorage, id: string): void => {
  sql.exec(
    `INSERT INTO account (id, number, cell, user_name, name, time_zone, day, total, used, disabled, creation, last_modified, version, erased)
     VALUES (?, 0, 0, '', '', 'UTC', '1970-01-01', 0, 0, 1, 0, 0, 0, 1)`,
    id,
  )
}
