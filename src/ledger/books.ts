import type { Account } from '../domain/account.ts'
import { base32, base32Time } from '../domain/base32.ts'
import { type Day, dayStart } from '../domain/day.ts'
import { sameJson } from '../domain/json.ts'
import { availableAt, currentDay, type Ends, hasEnded, mayGrant } from '../domain/license.ts'
import { post } from './outbox.ts'

/*
 * The account's books. Everything here is synchronous and runs inside the caller's one transaction:
 * an `await` between a check and its write would let a rival in.
 */

export type LogEntry =
  | 'granted'
  | 'released'
  | 'expired'
  | 'refused'
  | 'total-changed'
  | 'zone-changed'

interface AccountRow extends Record<string, SqlStorageValue> {
  id: string
  number: number
  cell: number
  user_name: string
  name: string
  time_zone: string
  day: string
  total: number
  used: number
  disabled: number
  retention_days: number
  creation: number
  last_modified: number
  version: number
}

/** Null where this ledger was never opened, or has been erased: it never comes into being by being asked. */
export const readAccount = (sql: SqlStorage): Account | null => {
  const [row] = sql.exec<AccountRow>('SELECT * FROM account WHERE erased = 0').toArray()
  if (!row) return null
  const { id, number, cell, name, day, total, used, creation, version } = row
  return {
    id,
    number,
    cell,
    userName: row.user_name,
    name,
    timeZone: row.time_zone,
    day,
    total,
    used,
    disabled: row.disabled === 1,
    retentionDays: row.retention_days,
    creation,
    lastModified: row.last_modified,
    version,
  }
}

/** Writes and posts what has changed; the one place where licenses are seen to run out or come free. */
export const saveAccount = (sql: SqlStorage, account: Account, now: number): void => {
  const before = readAccount(sql)
  const { next_expiry: dueBefore } = sql
    .exec<{ next_expiry: number | null }>('SELECT next_expiry FROM account')
    .one()
  const due = sql
    .exec<{ ends: Day | null }>(
      'SELECT min(ends) AS ends FROM devices WHERE ends IS NOT NULL AND recorded = 0',
    )
    .one().ends
  const nextExpiry = due === null ? null : dayStart(due, account.timeZone)
  if (!before || (dueBefore === nextExpiry && sameJson(before, account))) return
  sql.exec(
    `UPDATE account SET name = ?, time_zone = ?, day = ?, total = ?, used = ?, disabled = ?, retention_days = ?, last_modified = ?, version = ?, next_expiry = ?`,
    account.name,
    account.timeZone,
    account.day,
    account.total,
    account.used,
    account.disabled ? 1 : 0,
    account.retentionDays,
    account.lastModified,
    account.version,
    nextExpiry,
  )
  post(sql, { kind: 'account', account, nextExpiry })
  const wasFull = before.used >= before.total
  const isFull = account.used >= account.total
  const licenses = { used: account.used, total: account.total }
  if (!wasFull && isFull) emit(sql, account.id, 'license.exhausted', now, null, licenses)
  if (wasFull && !isFull) emit(sql, account.id, 'license.available', now, null, licenses)
}

export const emit = (
  sql: SqlStorage,
  accountId: string,
  type: string,
  time: number,
  deviceId: string | null,
  data: Record<string, unknown>,
): void => {
  const id = `evt_${base32Time(time)}${base32(crypto.getRandomValues(new Uint8Array(9)), 13)}`
  post(sql, { kind: 'event', accountId, id, type, time, deviceId, data })
}

const KEPT_ENTRIES = 100_000

export const log = (
  sql: SqlStorage,
  account: Account,
  what: LogEntry,
  deviceId: string | null,
  time: number,
): void => {
  const { used, total } = account
  const { sequence } = sql
    .exec<{ sequence: number }>(
      'INSERT INTO log (time, device_id, what, used, total) VALUES (?, ?, ?, ?, ?) RETURNING sequence',
      time,
      deviceId,
      what,
      used,
      total,
    )
    .one()
  if (sequence % 1000 === 0)
    sql.exec('DELETE FROM log WHERE sequence <= ?', sequence - KEPT_ENTRIES)
}

const countEndingBetween = (sql: SqlStorage, after: Day, upTo: Day): number =>
  sql
    .exec<{ sum: number }>(
      'SELECT coalesce(sum(count), 0) AS sum FROM endings WHERE day > ? AND day <= ?',
      after,
      upTo,
    )
    .one().sum

/** Brings `day` and `used` up to now: what ended in between is free from this instant, whether or not a sweep has run. */
export const advanceToToday = (sql: SqlStorage, account: Account, now: number): void => {
  const today = currentDay(account, now)
  if (today === account.day) return
  account.used -= countEndingBetween(sql, account.day, today)
  account.day = today
  saveAccount(sql, account, now)
}

/** How many devices a zone in which it is `day` would bring back. */
export const countRevived = (sql: SqlStorage, account: Account, day: Day): number =>
  countEndingBetween(sql, day, account.day)

export const whenAvailable = (sql: SqlStorage, account: Account): number | null =>
  availableAt(
    account,
    sql.exec<{ day: Day; count: number }>(
      'SELECT day, count FROM endings WHERE day > ? ORDER BY day',
      account.day,
    ),
    account.timeZone,
  )

const countEnding = (sql: SqlStorage, ends: Ends, by: 1 | -1): void => {
  if (ends === null) return
  sql.exec(
    'INSERT INTO endings (day, count) VALUES (?, ?) ON CONFLICT (day) DO UPDATE SET count = count + excluded.count',
    ends,
    by,
  )
  sql.exec('DELETE FROM endings WHERE day = ? AND count = 0', ends)
}

/** A device's end before or after a change; `absent` before it is made and after it is deleted. */
export type Expiry = Ends | 'absent'

const isActive = (standing: Expiry, today: Day): boolean =>
  standing !== 'absent' && !hasEnded(standing, today)

export type Transfer =
  | { ok: true; became: 'active' | 'ended' | 'same' }
  | { ok: false; refusal: 'no-license-available'; availableAt: number | null }

/**
 * The one road by which a license is taken or given back. The account must have been rolled to now;
 * on a refusal nothing is changed but the log.
 */
export const transferLicense = (
  sql: SqlStorage,
  account: Account,
  deviceId: string,
  before: Expiry,
  after: Expiry,
  now: number,
): Transfer => {
  const was = isActive(before, account.day)
  const will = isActive(after, account.day)
  if (!was && will && !mayGrant(account)) {
    log(sql, account, 'refused', deviceId, now)
    return { ok: false, refusal: 'no-license-available', availableAt: whenAvailable(sql, account) }
  }
  if (before !== after) {
    if (before !== 'absent') countEnding(sql, before, -1)
    if (after !== 'absent') countEnding(sql, after, 1)
  }
  if (was === will) return { ok: true, became: 'same' }
  account.used += will ? 1 : -1
  log(sql, account, will ? 'granted' : after === 'absent' ? 'released' : 'expired', deviceId, now)
  return { ok: true, became: will ? 'active' : 'ended' }
}
