import { deleteRows, findRow, hasRow, insertRow, query } from '../../db/objectTable.ts'
import { RESTORE_DEVICE_DAYS } from '../../domain/admin/status.ts'
import { base32Time } from '../../domain/text/base32.ts'
import type { Decision } from '../decision.ts'
import { type DeviceRow, deleted, deletedDevices } from '../tables.ts'

const DAY_MS = 86_400_000

/* The ids of deleted devices, for as long as a retry of the request that created one may come. */

/** A request can be repeated under its Idempotency-Key for 24 hours. */
const RETRY_MS = 2 * DAY_MS

/** An id begins with the time of its request: an older device cannot be created again. */
export const rememberDeleted = ({ sql, now }: Decision, id: string): void => {
  const oldest = `dev_${base32Time(now - RETRY_MS)}`
  deleteRows(sql, deleted, query`${deleted.id} < ${oldest}`)
  if (id >= oldest) insertRow(sql, deleted, { id }, 'ignore')
}

export const isRecentlyDeleted = (sql: SqlStorage, id: string): boolean =>
  hasRow(sql, deleted, { id })

/* The devices themselves, for as long as they can be restored. */

const keptSince = (now: number): number => now - RESTORE_DEVICE_DAYS * DAY_MS

export const keepDeleted = ({ sql, now }: Decision, device: DeviceRow): void => {
  deleteRows(sql, deletedDevices, query`${deletedDevices.at} <= ${keptSince(now)}`)
  insertRow(sql, deletedDevices, { id: device.id, at: now, device }, 'replace')
}

/** The device as it was; null when it can no longer be restored. */
export const findDeleted = ({ sql, now }: Decision, id: string): DeviceRow | null => {
  const row = findRow(sql, deletedDevices, { id })
  return row && row.at > keptSince(now) ? row.device : null
}

export const deleteKept = (sql: SqlStorage, id: string): void => {
  deleteRows(sql, deletedDevices, { id })
  deleteRows(sql, deleted, { id })
}
