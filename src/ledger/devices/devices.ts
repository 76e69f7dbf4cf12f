import {
  deleteRows,
  findRow,
  insertRow,
  query,
  readValue,
  updateRows,
} from '../../db/objectTable.ts'
import type { Account } from '../../domain/account/account.ts'
import { type Device, type DeviceRecord, deviceKey } from '../../domain/account/device.ts'
import { endsOf, hasEnded } from '../../domain/account/license.ts'
import { changesBetween } from '../../domain/admin/audit.ts'
import { fold } from '../../domain/text/fold.ts'
import { sameJson } from '../../domain/text/json.ts'
import { saveAccount } from '../accounts/accountRow.ts'
import { recordExpiry } from '../accounts/expirations.ts'
import { type NoLicense, transferLicense } from '../accounts/licenseTransfer.ts'
import type { Decision } from '../decision.ts'
import * as tables from '../tables.ts'
import { isRecentlyDeleted } from './deletedDevices.ts'
import { usageOn } from './usage.ts'

/* Decisions about devices. */

const { devices, creators } = tables
type DeviceRow = tables.DeviceRow

export type Refusal =
  | {
      ok: false
      refusal:
        | 'account-not-found'
        | 'device-not-found'
        | 'precondition-failed'
        | 'expiration-date-reached'
        | 'device-cap-reached'
        | 'device-deleted'
    }
  /** The caller may not be allowed to see the holder. */
  | { ok: false; refusal: 'identifier-taken'; holder?: { id: string; name: string } | undefined }
  | NoLicense
/** A device's state and expiry depend on the account's day and zone, so both come with it. */
export type DeviceOutcome =
  | { ok: true; device: Device; account: Pick<Account, 'day' | 'timeZone'> }
  | Refusal

/** Who creates a device. A bound user has a cap on devices, and they join the user's group. */
export interface Creator {
  userId: string | null
  groupId: string | null
  cap: number | null
}

type Plain = Exclude<Refusal['refusal'], 'no-license-available' | 'identifier-taken'>
export const refuse = <const R extends Plain>(refusal: R) => ({ ok: false, refusal }) as const

export const accept = (
  { account: { day, timeZone } }: Decision,
  device: Device,
): DeviceOutcome => ({
  ok: true,
  device,
  account: { day, timeZone },
})

export const findDevice = (sql: SqlStorage, id: string): DeviceRow | undefined =>
  findRow(sql, devices, { id })

export const toDevice = ({ sql, account }: Decision, row: DeviceRow): Device => {
  const { key, id, record, creation, lastModified, version } = row
  const usage = usageOn(sql, key, account.day)
  return { key, id, ...record, usage, creation, lastModified, version }
}

/** Identifiers are unique: the refusal names the device that has it, unless that is the same one. */
export const refuseTaken = (sql: SqlStorage, identifier: string | null, exceptId: string) => {
  if (identifier === null) return null
  const found = findRow(sql, devices, { identifierKey: fold(identifier) })
  if (!found || found.id === exceptId) return null
  const holder = { id: found.id, name: found.record.name }
  return { ok: false, refusal: 'identifier-taken', holder } as const
}

/** Posted before the device's event: whoever reads the event finds the device and its group. */
export const postDevice = (tx: Decision, id: string, joins: string | null = null): Device => {
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
  const { nextDevice } = tables.account
  const take = query`UPDATE ${tables.account} SET ${nextDevice} = ${nextDevice} + 1
    RETURNING ${nextDevice} - 1`
  return readValue<number>(sql, take)
}

/** What an edit writes. */
export const columnsOf = ({ account, now }: Decision, record: DeviceRecord) => {
  const ends = endsOf(record.limits)
  const identifierKey = record.identifier === null ? null : fold(record.identifier)
  return { identifierKey, ends, recorded: hasEnded(ends, account.day), record, lastModified: now }
}

const insertDevice = (tx: Decision, id: string, record: DeviceRecord, creator: Creator): void => {
  const { sql, account, now } = tx
  const { userId } = creator
  insertRow(sql, devices, {
    key: deviceKey(account.number, takeDeviceNumber(sql)),
    id,
    ...columnsOf(tx, record),
    createdBy: userId,
    creation: now,
    version: 1,
  })
  const count = query`${creators.count} + 1`
  if (userId !== null) insertRow(sql, creators, { userId, count: 1 }, { count })
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
  const taken = refuseTaken(sql, record.identifier, id)
  if (taken) return taken
  const { userId, groupId, cap } = creator
  if (userId !== null && cap !== null && countCreatedBy(sql, userId) >= cap)
    return refuse('device-cap-reached')
  const transfer = transferLicense(tx, id, 'absent', endsOf(record.limits))
  if (!transfer.ok) return transfer
  insertDevice(tx, id, record, creator)
  const device = postDevice(tx, id, groupId)
  tx.emit('device.created', id, { name: record.name })
  tx.audit('device.created', { type: 'device', id }, changesBetween(null, record))
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
  const { sql } = tx
  const row = findDevice(sql, id)
  if (!row) return refuse('device-not-found')
  if (versions && !versions.includes(row.version)) return refuse('precondition-failed')
  if (sameJson(row.record, record)) return accept(tx, toDevice(tx, row))
  const taken = refuseTaken(sql, record.identifier, id)
  if (taken) return taken
  recordExpiry(tx, row)
  const ends = endsOf(record.limits)
  const transfer = transferLicense(tx, id, row.ends, ends)
  if (!transfer.ok) return transfer
  const { key, version } = row
  updateRows(sql, devices, { ...columnsOf(tx, record), version: version + 1 }, { key })
  const device = postDevice(tx, id)
  const { name } = record
  if (transfer.became === 'ended') tx.emit('device.expired', id, { name, expirationDate: ends })
  const action = transfer.became === 'active' ? 'device.reactivated' : 'device.updated'
  tx.emit(action, id, { name })
  tx.audit(action, { type: 'device', id }, changesBetween(row.record, record))
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
  const { record } = row
  const limits = { ...record.limits, expires: expirationDate !== null, expirationDate }
  return editDevice(tx, id, { ...record, limits }, null)
}

const countCreatedBy = (sql: SqlStorage, userId: string): number =>
  findRow(sql, creators, { userId })?.count ?? 0

/** Keeps a deleted user's devices; they no longer count against anyone's cap. */
export const deleteCreator = (sql: SqlStorage, userId: string): void => {
  updateRows(sql, devices, { createdBy: null }, { createdBy: userId })
  deleteRows(sql, creators, { userId })
}
