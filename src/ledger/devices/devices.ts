import type { Account } from '../../domain/account/account.ts'
import { type Device, type DeviceRecord, deviceKey } from '../../domain/account/device.ts'
import { endsOf, hasEnded } from '../../domain/account/license.ts'
import { fold } from '../../domain/text/fold.ts'
import { sameJson } from '../../domain/text/json.ts'
import { saveAccount } from '../accounts/accountRow.ts'
import { recordExpiry } from '../accounts/expirations.ts'
import { type NoLicense, transferLicense } from '../accounts/licenseTransfer.ts'
import { closeEmergenciesOf } from '../alerts/emergencies.ts'
import type { Decision } from '../decision.ts'
import { deleteMessagesOf } from '../messages/messageQueue.ts'
import { isRecentlyDeleted, rememberDeleted } from './deletedDevices.ts'
import { usageOn } from './usage.ts'

/* Decisions about devices. */

export type Refusal =
  | {
      ok: false
      refusal:
        | 'account-not-found'
        | 'device-not-found'
        | 'identifier-taken'
        | 'precondition-failed'
        | 'expiration-date-reached'
        | 'device-cap-reached'
        | 'device-deleted'
    }
  | NoLicense
/** A device's state and expiry depend on the account's day and zone, so both come with it. */
export type DeviceOutcome =
  | { ok: true; device: Device; account: Pick<Account, 'day' | 'timeZone'> }
  | Refusal

export interface DeviceRow extends Record<string, SqlStorageValue> {
  key: number
  id: string
  ends: string | null
  recorded: number
  record: string
  created_by: string | null
  creation: number
  last_modified: number
  version: number
  /** When it last raised an emergency though it had expired. */
  expired_emergency_at: number | null
}

/** Who creates a device. A bound user has a cap on devices, and they join the user's group. */
export interface Creator {
  userId: string | null
  groupId: string | null
  cap: number | null
}

const refuse = <const R extends Exclude<Refusal['refusal'], 'no-license-available'>>(refusal: R) =>
  ({ ok: false, refusal }) as const

const accept = ({ account: { day, timeZone } }: Decision, device: Device): DeviceOutcome => ({
  ok: true,
  device,
  account: { day, timeZone },
})

export const findDevice = (sql: SqlStorage, id: string): DeviceRow | undefined =>
  sql.exec<DeviceRow>('SELECT * FROM devices WHERE id = ?', id).toArray()[0]

export const toDevice = ({ sql, account }: Decision, row: DeviceRow): Device => ({
  key: row.key,
  id: row.id,
  ...(JSON.parse(row.record) as DeviceRecord),
  usage: usageOn(sql, row.key, account.day),
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

const isTaken = (sql: SqlStorage, identifier: string | null, exceptId: string): boolean =>
  identifier !== null &&
  sql
    .exec('SELECT 1 FROM devices WHERE identifier_key = ? AND id <> ?', fold(identifier), exceptId)
    .toArray().length > 0

/** Posted before the device's event: whoever reads the event finds the device and its group. */
const postDevice = (tx: Decision, id: string, joins: string | null = null): Device => {
  const row = findDevice(tx.sql, id)
  if (!row) throw new Error('a device that was just written is missing')
  const device = toDevice(tx, row)
  tx.post({ kind: 'device', device, ...(joins !== null && { joins }) })
  return device
}

export const readDevice = (tx: Decision, id: string): DeviceOutcome => {
  const row = findDevice(tx.sql, id)
  return row ? accept(tx, toDevice(tx, row)) : refuse('device-not-found')
}

const takeDeviceNumber = (sql: SqlStorage): number => {
  const { next_device: number } = sql
    .exec<{ next_device: number }>('SELECT next_device FROM account')
    .one()
  sql.exec('UPDATE account SET next_device = next_device + 1')
  return number
}

const insertDevice = (tx: Decision, id: string, record: DeviceRecord, creator: Creator): void => {
  const { sql, account, now } = tx
  const ends = endsOf(record.limits)
  sql.exec(
    `INSERT INTO devices (key, id, identifier_key, ends, recorded, record, created_by, creation,
       last_modified, version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
    deviceKey(account.number, takeDeviceNumber(sql)),
    id,
    record.identifier === null ? null : fold(record.identifier),
    ends,
    hasEnded(ends, account.day) ? 1 : 0,
    JSON.stringify(record),
    creator.userId,
    now,
    now,
  )
  if (creator.userId !== null)
    sql.exec(
      `INSERT INTO creators (user_id, count) VALUES (?, 1)
       ON CONFLICT (user_id) DO UPDATE SET count = count + 1`,
      creator.userId,
    )
}

/**
 * A retry has the same id: it finds the device and changes nothing. Once the device is deleted it is
 * refused, since the cell's tombstone would hide a second device with this id.
 */
export const createDevice = (
  tx: Decision,
  id: string,
  record: DeviceRecord,
  creator: Creator,
): DeviceOutcome => {
  const { sql } = tx
  const existing = findDevice(sql, id)
  if (existing) return accept(tx, toDevice(tx, existing))
  if (isRecentlyDeleted(sql, id)) return refuse('device-deleted')
  if (isTaken(sql, record.identifier, id)) return refuse('identifier-taken')
  const { userId, groupId, cap } = creator
  if (userId !== null && cap !== null && countCreatedBy(sql, userId) >= cap)
    return refuse('device-cap-reached')
  const transfer = transferLicense(tx, id, 'absent', endsOf(record.limits))
  if (!transfer.ok) return transfer
  insertDevice(tx, id, record, creator)
  const device = postDevice(tx, id, groupId)
  tx.emit('device.created', id, { name: record.name })
  saveAccount(tx)
  return accept(tx, device)
}

/** `versions`: the ones that If-Match names, compared at the moment of the write. */
export const editDevice = (
  tx: Decision,
  id: string,
  record: DeviceRecord,
  versions: number[] | null,
): DeviceOutcome => {
  const { sql, account, now } = tx
  const row = findDevice(sql, id)
  if (!row) return refuse('device-not-found')
  if (versions && !versions.includes(row.version)) return refuse('precondition-failed')
  if (sameJson(JSON.parse(row.record), record)) return accept(tx, toDevice(tx, row))
  if (isTaken(sql, record.identifier, id)) return refuse('identifier-taken')
  recordExpiry(tx, row)
  const ends = endsOf(record.limits)
  const transfer = transferLicense(tx, id, row.ends, ends)
  if (!transfer.ok) return transfer
  sql.exec(
    `UPDATE devices SET identifier_key = ?, ends = ?, recorded = ?, record = ?, last_modified = ?,
       version = version + 1 WHERE key = ?`,
    record.identifier === null ? null : fold(record.identifier),
    ends,
    hasEnded(ends, account.day) ? 1 : 0,
    JSON.stringify(record),
    now,
    row.key,
  )
  const device = postDevice(tx, id)
  const { name } = record
  if (transfer.became === 'ended') tx.emit('device.expired', id, { name, expirationDate: ends })
  tx.emit(transfer.became === 'active' ? 'device.reactivated' : 'device.updated', id, { name })
  saveAccount(tx)
  return accept(tx, device)
}

export const reactivateDevice = (
  tx: Decision,
  id: string,
  expirationDate: string | null,
): DeviceOutcome => {
  const row = findDevice(tx.sql, id)
  if (!row) return refuse('device-not-found')
  if (hasEnded(expirationDate, tx.account.day)) return refuse('expiration-date-reached')
  const record = JSON.parse(row.record) as DeviceRecord
  const limits = { ...record.limits, expires: expirationDate !== null, expirationDate }
  return editDevice(tx, id, { ...record, limits }, null)
}

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
  sql.exec('DELETE FROM devices WHERE key = ?', row.key)
  sql.exec('DELETE FROM usage WHERE device_key = ?', row.key)
  deleteMessagesOf(sql, row.key)
  closeEmergenciesOf(sql, row.key)
  rememberDeleted(tx, id)
  if (row.created_by !== null)
    sql.exec('UPDATE creators SET count = count - 1 WHERE user_id = ?', row.created_by)
  tx.post({ kind: 'device-gone', id, key: row.key, at: now })
  tx.emit('device.deleted', id, { name: (JSON.parse(row.record) as DeviceRecord).name })
  saveAccount(tx)
  return { ok: true }
}

const countCreatedBy = (sql: SqlStorage, userId: string): number =>
  sql.exec<{ count: number }>('SELECT count FROM creators WHERE user_id = ?', userId).toArray()[0]
    ?.count ?? 0

/** Keeps a deleted user's devices; they no longer count against anyone's cap. */
export const deleteCreator = (sql: SqlStorage, userId: string): void => {
  sql.exec('UPDATE devices SET created_by = NULL WHERE created_by = ?', userId)
  sql.exec('DELETE FROM creators WHERE user_id = ?', userId)
}
