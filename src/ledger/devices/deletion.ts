import { deleteRows, insertRow, query, updateRows } from '../../db/objectTable.ts'
import { RESTORE_DEVICE_DAYS } from '../../domain/admin/status.ts'
import { saveAccount } from '../accounts/accountRow.ts'
import { recordExpiry } from '../accounts/expirations.ts'
import { transferLicense } from '../accounts/licenseTransfer.ts'
import type { Decision } from '../decision.ts'
import { deleteEmergencyCounts } from '../messages/messageBudget.ts'
import { deleteMessagesOf } from '../messages/messageQueue.ts'
import { cancellations, creators, devices, emergencies, messageCounts } from '../tables.ts'
import { deleteKept, findDeleted, keepDeleted, rememberDeleted } from './deletedDevices.ts'
import {
  accept,
  columnsOf,
  type DeviceOutcome,
  findDevice,
  postDevice,
  type Refusal,
  refuse,
  refuseTaken,
  toDevice,
} from './devices.ts'

/* Deleting devices, and restoring them. */

const DAY_MS = 86_400_000

export const deleteDevice = (
  tx: Decision,
  id: string,
  versions: number[] | null,
): { ok: true } | Refusal => {
  const { sql, now } = tx
  const row = findDevice(sql, id)
  if (!row) return refuse('device-not-found')
  if (versions && !versions.includes(row.version)) return refuse('precondition-failed')
  recordExpiry(tx, row)
  const transfer = transferLicense(tx, id, row.ends, 'absent')
  if (!transfer.ok) return transfer
  const { key, createdBy, record } = row
  const device = toDevice(tx, row)
  deleteRows(sql, devices, { key })
  deleteRows(sql, messageCounts, { deviceKey: key })
  deleteEmergencyCounts(sql, key)
  deleteMessagesOf(sql, key)
  deleteRows(sql, emergencies, { deviceKey: key })
  deleteRows(sql, cancellations, { deviceKey: key })
  rememberDeleted(tx, id)
  keepDeleted(tx, row)
  const count = query`${creators.count} - 1`
  if (createdBy !== null) updateRows(sql, creators, { count }, { userId: createdBy })
  const eraseAt = now + RESTORE_DEVICE_DAYS * DAY_MS
  tx.post({ kind: 'device-gone', id, key, at: now, eraseAt, device })
  tx.emit('device.deleted', id, { name: record.name })
  const changes = [{ path: 'name', from: record.name, to: null }]
  tx.audit('device.deleted', { type: 'device', id }, changes)
  saveAccount(tx)
  return { ok: true }
}

/** Brings a deleted device back, with its track, if a license is free. */
export const restoreDevice = (tx: Decision, id: string): DeviceOutcome => {
  const { sql } = tx
  const existing = findDevice(sql, id)
  if (existing) return accept(tx, toDevice(tx, existing))
  const kept = findDeleted(tx, id)
  if (!kept) return refuse('device-not-found')
  const { record, ends, createdBy, version } = kept
  const taken = refuseTaken(sql, record.identifier, id)
  if (taken) return taken
  const transfer = transferLicense(tx, id, 'absent', ends)
  if (!transfer.ok) return transfer
  const written = { ...columnsOf(tx, record), version: version + 1 }
  insertRow(sql, devices, { ...kept, ...written })
  const count = query`${creators.count} + 1`
  if (createdBy !== null) updateRows(sql, creators, { count }, { userId: createdBy })
  deleteKept(sql, id)
  tx.post({ kind: 'device-back', id, key: kept.key, name: record.name, creation: kept.creation })
  const device = postDevice(tx, id)
  tx.emit('device.restored', id, { name: record.name })
  tx.audit('device.restored', { type: 'device', id })
  saveAccount(tx)
  return accept(tx, device)
}
