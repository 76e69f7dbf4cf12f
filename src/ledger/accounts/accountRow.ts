import type { Account } from '../../domain/account/account.ts'
import { currentDay } from '../../domain/account/license.ts'
import { parseEmergencySettings, storeEmergencySettings } from '../../domain/message/emergency.ts'
import { sameJson } from '../../domain/text/json.ts'
import { type Day, dayStart } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import { countEndingBetween } from './endings.ts'

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
  locations_per_day: number | null
  storage_bytes: number | null
  emergency: string | null
  creation: number
  last_modified: number
  version: number
}

/** Null if this ledger was never opened or has been erased: reading never creates an account. */
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
    budgets: { locationsPerDay: row.locations_per_day, storageBytes: row.storage_bytes },
    ...parseEmergencySettings(row.emergency),
    creation,
    lastModified: row.last_modified,
    version,
  }
}

/** The start of the first day on which a device expires whose expiry is not recorded yet. */
const findNextExpiry = ({ sql, account }: Decision): number | null => {
  const { ends } = sql
    .exec<{ ends: Day | null }>(
      'SELECT min(ends) AS ends FROM devices WHERE ends IS NOT NULL AND recorded = 0',
    )
    .one()
  return ends === null ? null : dayStart(ends, account.timeZone)
}

/** Writes and posts a changed account. The only place that emits the license events. */
export const saveAccount = (tx: Decision): void => {
  const { sql, account } = tx
  const before = readAccount(sql)
  const { next_expiry: nextExpiryBefore } = sql
    .exec<{ next_expiry: number | null }>('SELECT next_expiry FROM account')
    .one()
  const nextExpiry = findNextExpiry(tx)
  if (!before || (nextExpiryBefore === nextExpiry && sameJson(before, account))) return
  sql.exec(
    `UPDATE account SET name = ?, time_zone = ?, day = ?, total = ?, used = ?, disabled = ?,
       retention_days = ?, locations_per_day = ?, storage_bytes = ?, emergency = ?,
       last_modified = ?, version = ?, next_expiry = ?`,
    account.name,
    account.timeZone,
    account.day,
    account.total,
    account.used,
    account.disabled ? 1 : 0,
    account.retentionDays,
    account.budgets.locationsPerDay,
    account.budgets.storageBytes,
    storeEmergencySettings(account),
    account.lastModified,
    account.version,
    nextExpiry,
  )
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
