import { query, selectRows, updateRows } from '../../db/objectTable.ts'
import { hasEnded } from '../../domain/account/license.ts'
import { dayStart } from '../../domain/time/day.ts'
import { type Decision, SYSTEM } from '../decision.ts'
import { type DeviceRow, devices } from '../tables.ts'
import { saveAccount } from './accountRow.ts'

/**
 * Records an expiry once, by the sweep or just before the device's next change. It happened when its
 * day began, but not before `since`.
 */
export const recordExpiry = (tx: Decision, device: DeviceRow, since = 0): void => {
  const { sql, account, now } = tx
  const { key, id, ends, record, recorded } = device
  if (ends === null || !hasEnded(ends, account.day) || recorded) return
  const at = Math.min(now, Math.max(since, dayStart(ends, account.timeZone)))
  updateRows(sql, devices, { recorded: true }, { key })
  tx.log('expired', id, at)
  tx.audit('device.expired', { type: 'device', id }, [], SYSTEM)
  tx.emit('device.expired', id, { name: record.name, expirationDate: ends }, at)
}

const recordPage = (tx: Decision, limit: number, since?: number): number => {
  const isDue = query`${devices.ends} <= ${tx.account.day} AND ${devices.recorded} = 0
    ORDER BY ${devices.ends} LIMIT ${limit}`
  const due = selectRows(tx.sql, devices, isDue)
  for (const device of due) recordExpiry(tx, device, since)
  return due.length
}

/** Records expiries that have already happened, at most `limit`; `more` where others are due. */
export const recordExpirations = (
  tx: Decision,
  limit: number,
): { recorded: number; more: boolean } => {
  const recorded = recordPage(tx, limit)
  saveAccount(tx)
  return { recorded, more: recorded === limit }
}

const PAGE = 200

/** Records all of them; the caller saves the account. */
export const recordAllExpirations = (tx: Decision, since?: number): void => {
  while (recordPage(tx, PAGE, since) === PAGE);
}
