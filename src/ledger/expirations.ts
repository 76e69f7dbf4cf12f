import type { Account } from '../domain/account.ts'
import { dayStart } from '../domain/day.ts'
import type { DeviceRecord } from '../domain/device.ts'
import { hasEnded } from '../domain/license.ts'
import { emit, log, saveAccount } from './books.ts'
import type { DeviceRow } from './devices.ts'

/** An expiry is recorded once, by the sweep or by the change that comes before it, and then ahead of that change. */
export const recordExpiry = (
  sql: SqlStorage,
  account: Account,
  { key, id, ends, record, recorded }: DeviceRow,
  now: number,
): void => {
  if (ends === null || !hasEnded(ends, account.day) || recorded === 1) return
  const at = Math.min(now, dayStart(ends, account.timeZone))
  sql.exec('UPDATE devices SET recorded = 1 WHERE key = ?', key)
  log(sql, account, 'expired', id, at)
  emit(sql, account.id, 'device.expired', at, id, {
    name: (JSON.parse(record) as DeviceRecord).name,
    expirationDate: ends,
  })
}

/** Records expiries that have already happened. Answers whether more are due. */
export const recordExpirations = (
  sql: SqlStorage,
  account: Account,
  most: number,
  now: number,
): { recorded: number; more: boolean } => {
  const due = sql
    .exec<DeviceRow>(
      'SELECT * FROM devices WHERE ends <= ? AND recorded = 0 ORDER BY ends LIMIT ?',
      account.day,
      most,
    )
    .toArray()
  for (const device of due) recordExpiry(sql, account, device, now)
  saveAccount(sql, account, now)
  return { recorded: due.length, more: due.length === most }
}
