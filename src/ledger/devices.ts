import type { Account } from '../domain/account.ts'
import { type Device, type DeviceRecord, deviceKey } from '../domain/device.ts'
import { fold } from '../domain/fold.ts'
import { sameJson } from '../domain/json.ts'
import { endsOf, hasEnded } from '../domain/license.ts'
import { emit, saveAccount, type Transfer, transferLicense } from './books.ts'
import { recordExpiry } from './expirations.ts'
import { dropMessagesOf } from './messages.ts'
import { post } from './outbox.ts'
import { usageOn } from './usage.ts'

/* Decisions about devices. Like the books: synchronous, inside the caller's transaction, on an account rolled to now. */

export type Refusal =
  | {
      ok: false
      refusal:
        | 'not-found'
        | 'identifier-taken'
        | 'precondition-failed'
        | 'expiration-date-reached'
        | 'device-cap-reached'
    }
  | Extract<Transfer, { ok: false }>
/** The account's day and zone come along: state and end are told from them. */
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
}

/** Who asks for a device: a bound user's devices are counted against the user's cap and join the user's group. */
export interface Maker {
  userId: string | null
  groupId: string | null
  cap: number | null
}

const refuse = <const R extends Exclude<Refusal['refusal'], 'no-license-available'>>(refusal: R) =>
  ({ ok: false, refusal }) as const

const decided = ({ day, timeZone }: Account, device: Device): DeviceOutcome => ({
  ok: true,
  device,
  account: { day, timeZone },
})

export const findDevice = (sql: SqlStorage, id: string): DeviceRow | undefined =>
  sql.exec<DeviceRow>('SELECT * FROM devices WHERE id = ?', id).toArray()[0]

export const toDevice = (sql: SqlStorage, account: Account, row: DeviceRow): Device => ({
  key: row.key,
  id: row.id,
  ...(JSON.parse(row.record) as DeviceRecord),
  usage: usageOn(sql, row.key, account.day),
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

const isTaken = (sql: SqlStorage, identifier: string | null, but: string): boolean =>
  identifier !== null &&
  sql
    .exec('SELECT 1 FROM devices WHERE identifier_key = ? AND id <> ?', fold(identifier), but)
    .toArray().length > 0

/** Before the event that tells of it: who reads the event finds the device, and the group that it has joined. */
const project = (
  sql: SqlStorage,
  account: Account,
  id: string,
  joins: string | null = null,
): Device => {
  const row = findDevice(sql, id)
  if (!row) throw new Error('a device that was just written is not there')
  const device = toDevice(sql, account, row)
  post(sql, { kind: 'device', accountId: account.id, device, ...(joins !== null && { joins }) })
  return device
}

export const readDevice = (sql: SqlStorage, account: Account, id: string): DeviceOutcome => {
  const row = findDevice(sql, id)
  return row ? decided(account, toDevice(sql, account, row)) : refuse('not-found')
}

export const createDevice = (
  sql: SqlStorage,
  account: Account,
  id: string,
  record: DeviceRecord,
  maker: Maker,
  now: number,
): DeviceOutcome => {
  const existing = findDevice(sql, id)
  if (existing) return decided(account, toDevice(sql, account, existing))
  if (isTaken(sql, record.identifier, id)) return refuse('identifier-taken')
  if (maker.userId !== null && maker.cap !== null && madeBy(sql, maker.userId) >= maker.cap)
    return refuse('device-cap-reached')
  const ends = endsOf(record.limits)
  const transfer = transferLicense(sql, account, id, 'absent', ends, now)
  if (!transfer.ok) return transfer
  const { next_device: number } = sql
    .exec<{ next_device: number }>('SELECT next_device FROM account')
    .one()
  sql.exec('UPDATE account SET next_device = next_device + 1')
  sql.exec(
    `INSERT INTO devices (key, id, identifier_key, ends, recorded, record, created_by, creation, last_modified, version)
     VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, 1)`,
    deviceKey(account.number, number),
    id,
    record.identifier === null ? null : fold(record.identifier),
    ends,
    hasEnded(ends, account.day) ? 1 : 0,
    JSON.stringify(record),
    maker.userId,
    now,
    now,
  )
  if (maker.userId !== null)
    sql.exec(
      'INSERT INTO creators (user_id, count) VALUES (?, 1) ON CONFLICT (user_id) DO UPDATE SET count = count + 1',
      maker.userId,
    )
  const device = project(sql, account, id, maker.groupId)
  emit(sql, account.id, 'device.created', now, id, { name: record.name })
  saveAccount(sql, account, now)
  return decided(account, device)
}

/** `versions`: what If-Match names, compared here, at the moment of the write. */
export const replaceDevice = (
  sql: SqlStorage,
  account: Account,
  id: string,
  record: DeviceRecord,
  versions: number[] | null,
  now: number,
): DeviceOutcome => {
  const row = findDevice(sql, id)
  if (!row) return refuse('not-found')
  if (versions && !versions.includes(row.version)) return refuse('precondition-failed')
  if (sameJson(JSON.parse(row.record), record)) return decided(account, toDevice(sql, account, row))
  if (isTaken(sql, record.identifier, id)) return refuse('identifier-taken')
  recordExpiry(sql, account, row, now)
  const ends = endsOf(record.limits)
  const transfer = transferLicense(sql, account, id, row.ends, ends, now)
  if (!transfer.ok) return transfer
  sql.exec(
    'UPDATE devices SET identifier_key = ?, ends = ?, recorded = ?, record = ?, last_modified = ?, version = version + 1 WHERE key = ?',
    record.identifier === null ? null : fold(record.identifier),
    ends,
    hasEnded(ends, account.day) ? 1 : 0,
    JSON.stringify(record),
    now,
    row.key,
  )
  const device = project(sql, account, id)
  if (transfer.became === 'ended')
    emit(sql, account.id, 'device.expired', now, id, { name: record.name, expirationDate: ends })
  emit(
    sql,
    account.id,
    transfer.became === 'active' ? 'device.reactivated' : 'device.updated',
    now,
    id,
    { name: record.name },
  )
  saveAccount(sql, account, now)
  return decided(account, device)
}

export const reactivateDevice = (
  sql: SqlStorage,
  account: Account,
  id: string,
  expirationDate: string | null,
  now: number,
): DeviceOutcome => {
  const row = findDevice(sql, id)
  if (!row) return refuse('not-found')
  if (hasEnded(expirationDate, account.day)) return refuse('expiration-date-reached')
  const record = JSON.parse(row.record) as DeviceRecord
  const limits = { ...record.limits, expires: expirationDate !== null, expirationDate }
  return replaceDevice(sql, account, id, { ...record, limits }, null, now)
}

export const deleteDevice = (
  sql: SqlStorage,
  account: Account,
  id: string,
  versions: number[] | null,
  now: number,
): { ok: true } | Refusal => {
  const row = findDevice(sql, id)
  if (!row) return refuse('not-found')
  if (versions && !versions.includes(row.version)) return refuse('precondition-failed')
  recordExpiry(sql, account, row, now)
  const transfer = transferLicense(sql, account, id, row.ends, 'absent', now)
  if (!transfer.ok) return transfer
  sql.exec('DELETE FROM devices WHERE key = ?', row.key)
  sql.exec('DELETE FROM usage WHERE device_key = ?', row.key)
  dropMessagesOf(sql, row.key)
  if (row.created_by !== null)
    sql.exec('UPDATE creators SET count = count - 1 WHERE user_id = ?', row.created_by)
  post(sql, { kind: 'device-gone', accountId: account.id, id, key: row.key, at: now })
  emit(sql, account.id, 'device.deleted', now, id, {
    name: (JSON.parse(row.record) as DeviceRecord).name,
  })
  saveAccount(sql, account, now)
  return { ok: true }
}

const madeBy = (sql: SqlStorage, userId: string): number =>
  sql.exec<{ count: number }>('SELECT count FROM creators WHERE user_id = ?', userId).toArray()[0]
    ?.count ?? 0

/** A deleted user's devices stay, as nobody's making. */
export const forgetMaker = (sql: SqlStorage, userId: string): void => {
  sql.exec('UPDATE devices SET created_by = NULL WHERE created_by = ?', userId)
  sql.exec('DELETE FROM creators WHERE user_id = ?', userId)
}
