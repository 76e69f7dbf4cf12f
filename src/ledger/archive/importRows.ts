import { findRow, insertRow, query, readValue } from '../../db/objectTable.ts'
import { decodeRow } from '../../db/queries/archiveRows.ts'
import { type Device, type DeviceRecord, deviceKey } from '../../domain/account/device.ts'
import { endsOf } from '../../domain/account/license.ts'
import { parseJson } from '../../domain/archive/archive.ts'
import { ArchiveError } from '../../domain/archive/tar.ts'
import { fold } from '../../domain/text/fold.ts'
import { isObject } from '../../domain/text/json.ts'
import { isDay } from '../../domain/time/day.ts'
import { addEnding } from '../accounts/endings.ts'
import { toDeviceColumns } from '../outbox/projection/devices.ts'
import * as tables from '../tables.ts'
import { ACCOUNT_COUNTS, DEVICE_COUNTS } from './exportRows.ts'
import { LEDGER_PARTS, type LedgerPartName } from './tables.ts'

/* Stores lines of an archive in a ledger. A line that is there already stays. */

type DeviceRow = tables.DeviceRow
/** A device as its cell stores it. */
export type CellDevice = ReturnType<typeof toDeviceColumns>

const TEXTS = ['name', 'description', 'min', 'model'] as const
const NUMBERS = ['dailyEmailLimit', 'dailySmsLimit'] as const

/** Throws unless the record has what decisions rely on. */
const checkRecord = (record: Partial<DeviceRecord>): void => {
  const { identifier, tags, limits } = record
  const isText = TEXTS.every((name) => typeof record[name] === 'string')
  const isIdentified = identifier === null || typeof identifier === 'string'
  const ends = isObject(limits) ? limits.expirationDate : undefined
  const isLimited =
    isObject(limits) &&
    NUMBERS.every((name) => typeof limits[name] === 'number') &&
    typeof limits.expires === 'boolean' &&
    (ends === null || (typeof ends === 'string' && isDay(ends)))
  if (!isText || !isIdentified || !isObject(tags) || !isLimited)
    throw new ArchiveError('the member record is not that of a device')
}

const takeNumber = (sql: SqlStorage): number =>
  readValue<number>(
    sql,
    query`UPDATE ${tables.account} SET ${tables.account.nextDevice} = ${tables.account.nextDevice} + 1
      RETURNING ${tables.account.nextDevice} - 1`,
  )

const insertDevice = (sql: SqlStorage, accountNumber: number, row: DeviceRow): DeviceRow => {
  const { record, createdBy } = row
  const { identifier } = record
  const ends = endsOf(record.limits)
  const identifierKey = identifier === null ? null : fold(identifier)
  if (identifierKey !== null && findRow(sql, tables.devices, { identifierKey }))
    throw new ArchiveError('two devices have the same identifier')
  const stored = { ...row, key: deviceKey(accountNumber, takeNumber(sql)), identifierKey, ends }
  insertRow(sql, tables.devices, stored)
  addEnding(sql, ends, 1)
  const { creators } = tables
  const count = query`${creators.count} + 1`
  if (createdBy !== null) insertRow(sql, creators, { userId: createdBy, count: 1 }, { count })
  return stored
}

/** Stores devices under keys of this installation; returns them for the cell. */
export const importDevices = (
  sql: SqlStorage,
  { id: accountId, number }: { id: string; number: number },
  lines: string[],
): CellDevice[] =>
  lines.map((line) => {
    const given = decodeRow(LEDGER_PARTS.devices, parseJson('devices', line), [
      'sourceId',
      'lastContact',
    ])
    const row = given as DeviceRow
    checkRecord(row.record)
    const stored = findRow(sql, tables.devices, { id: row.id }) ?? insertDevice(sql, number, row)
    const { key, id, record, creation, lastModified, version } = stored
    const device = { key, id, ...record, creation, lastModified, version }
    return toDeviceColumns(accountId, device as Device)
  })

/** The key of counts; null when the device is not in the archive. */
const countKeyOf = (sql: SqlStorage, line: unknown): number => {
  const { of, deviceId } = isObject(line) ? line : {}
  const account = ACCOUNT_COUNTS.indexOf(String(of))
  if (account !== -1 && deviceId === null) return -account
  const device = findRow(sql, tables.devices, { id: String(deviceId) })
  const toKey = DEVICE_COUNTS[String(of)]
  if (!device || !toKey) throw new ArchiveError('counts are of a device that is not there')
  return toKey(device.key)
}

export const importRows = (
  sql: SqlStorage,
  name: Exclude<LedgerPartName, 'devices'>,
  lines: string[],
): void => {
  const part = LEDGER_PARTS[name]
  for (const text of lines) {
    const line = parseJson(name, text)
    const isCounts = name === 'messageCounts'
    const row = decodeRow(part, line, isCounts ? ['of', 'deviceId'] : [])
    const derived = isCounts ? { deviceKey: countKeyOf(sql, line) } : { seq: 0 }
    insertRow(sql, part.table, { ...row, ...derived } as never, 'ignore')
  }
}
