import type { DeviceRecord } from '../../domain/account/device.ts'
import { hasEnded } from '../../domain/account/license.ts'
import { dayStart } from '../../domain/time/day.ts'
import type { Decision } from '../decision.ts'
import type { DeviceRow } from '../devices/devices.ts'
import { saveAccount } from './accountRow.ts'

/** Records an expiry once, by the sweep or just before the device's next change. */
export const recordExpiry = (tx: Decision, device: DeviceRow): void => {
  const { sql, account, now } = tx
  const { key, id, ends, record, recorded } = device
  if (ends === null || !hasEnded(ends, account.day) || recorded === 1) return
  const at = Math.min(now, dayStart(ends, account.timeZone))
  sql.exec('UPDATE devices SET recorded = 1 WHERE key = ?', key)
  tx.log('expired', id, at)
  const { name } = JSON.parse(record) as DeviceRecord
  tx.emit('device.expired', id, { name, expirationDate: ends }, at)
}

/** Records expiries that have already happened, at most `limit`; `more` where others are due. */
export const recordExpirations = (
  tx: Decision,
  limit: number,
): { recorded: number; more: boolean } => {
  const due = tx.sql
    .exec<DeviceRow>(
      'SELECT * FROM devices WHERE ends <= ? AND recorded = 0 ORDER BY ends LIMIT ?',
      tx.account.day,
      limit,
    )
    .toArray()
  for (const device of due) recordExpiry(tx, device)
  saveAccount(tx)
  return { recorded: due.length, more: due.length === limit }
}
