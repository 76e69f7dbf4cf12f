import type { Account } from '../domain/account.ts'
import { dayStart } from '../domain/day.ts'
import type { DeviceRecord } from '../domain/device.ts'
import { emit, log, saveAccount } from './books.ts'

/** Records, once each, expiries that have already happened. Answers whether more are due. */
export const recordExpirations = (sql: SqlStorage, account: Account, most: number, now: number): { recorded: number; more: boolean } => {
  const due = sql
    .exec<{ key: number; id: string; ends: string; record: string }>(
      'SELECT key, id, ends, record FROM devices WHERE ends <= ? AND recorded = 0 ORDER BY ends LIMIT ?',
      account.day,
      most,
    )
    .toArray()
  for (const { key, id, ends, record } of due) {
    const at = Math.min(now, dayStart(ends, account.timeZone))
    sql.exec('UPDATE devices SET recorded = 1 WHERE key = ?', key)
    log(sql, account, 'expired', id, at)
    emit(sql, account.id, 'device.expired', at, id, { name: (JSON.parse(record) as DeviceRecord).name, expirationDate: ends })
  }
  saveAccount(sql, account, now)
  return { recorded: due.length, more: due.length === most }
}
