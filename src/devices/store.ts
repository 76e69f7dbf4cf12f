import { and, eq, getTableColumns, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { parseLocation, selectLastLocation } from '../db/queries/locations.ts'
import { type DeviceRef, isVisibleDevice, type Viewer } from '../db/queries/visibility.ts'
import { countBounded, type InferRow, json, select } from '../db/query.ts'
import { accounts, devices, groupDevices, groups, quarantine, unclaimed } from '../db/schema.ts'
import { compile, type Placeholders, readFirst, statement } from '../db/statement.ts'
import type { Device } from '../domain/account/device.ts'
import { currentDay } from '../domain/account/license.ts'
import { MAX_COUNTED } from '../domain/account/source.ts'
import { fold } from '../domain/text/fold.ts'
import type { StoredLocation } from '../domain/track/location.ts'

/** A device as its cell has it, with the account's day and zone, which decide its state. */
export interface StoredDevice {
  device: Device
  account: { day: string; timeZone: string }
  groups: string[]
  lastLocation: StoredLocation | null
  lastContact: number | null
  quarantined: number
}

const selectGroups = (deviceKey: SQLWrapper): SQL =>
  sql`(SELECT json_group_array(group_id) FROM (
    SELECT ${groupDevices.groupId} FROM ${groupDevices}
    WHERE ${groupDevices.deviceKey} = ${deviceKey} ORDER BY ${groupDevices.groupId}))`

/** What a `StoredDevice` is made of, from devices joined with `accounts`. */
export const deviceColumns = (table: typeof devices) => {
  const { accountId, nameKey, identifierKey, ends, sourceId, seq, ...columns } =
    getTableColumns(table)
  return {
    ...columns,
    timeZone: accounts.timeZone,
    day: accounts.day,
    lastLocation: selectLastLocation(table.key).mapWith(parseLocation),
    groups: json<string[]>(selectGroups(table.key)),
    quarantined: countBounded(
      sql`${quarantine} WHERE ${quarantine.deviceKey} = ${table.key}`,
      MAX_COUNTED.ofDevice,
    ),
  }
}

type DeviceRow = InferRow<ReturnType<typeof deviceColumns>>

/** A confined viewer sees no group but its own. */
export const toStoredDevice = (row: DeviceRow, { groupId }: Viewer, now: number): StoredDevice => {
  const { timeZone, day, groups, lastLocation, lastContact, quarantined, ...device } = row
  const { usageDate, emailsSent, smsSent, emailReserve, smsReserve, ...limited } = device
  const { expires, expirationDate, dailyEmailLimit, dailySmsLimit, ...rest } = limited
  const date = currentDay({ day, timeZone }, now)
  const emergencyReserve = { email: emailReserve, sms: smsReserve }
  return {
    account: { day, timeZone },
    groups: groups.filter((group) => groupId === null || group === groupId),
    lastLocation,
    quarantined,
    lastContact: Math.max(lastContact ?? 0, lastLocation?.receivedAt ?? 0) || null,
    device: {
      ...rest,
      limits: { expires, expirationDate, dailyEmailLimit, dailySmsLimit, emergencyReserve },
      usage: { date, sent: usageDate === date ? { Email: emailsSent, SMS: smsSent } : {} },
    },
  }
}

const selectDevice = compile((p: Placeholders<DeviceRef>) =>
  select(
    deviceColumns(devices),
    sql`FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
      WHERE ${isVisibleDevice(p)}`,
  ),
)

export const findDevice = async (
  db: Database,
  viewer: Viewer,
  id: string,
  now: number,
): Promise<StoredDevice | null> => {
  const { accountId, groupId } = viewer
  const row = await readFirst(selectDevice(db, { deviceId: id, accountId, groupId }))
  return row && toStoredDevice(row, viewer, now)
}

/** Whether the viewer can see the group. A confined viewer sees only its own. */
export const hasGroup = async (
  db: Database,
  { accountId, groupId }: Viewer,
  id: string,
): Promise<boolean> => {
  if (groupId !== null && groupId !== id) return false
  const own = and(eq(groups.id, id), eq(groups.accountId, accountId))
  return (await readFirst(statement(db, sql`SELECT 1 FROM ${groups} WHERE ${own}`))) !== null
}

/** Whether reports of this identifier wait to be claimed. */
export const isUnclaimed = async (
  db: Database,
  accountId: string,
  identifier: string,
): Promise<boolean> => {
  const own = and(eq(unclaimed.accountId, accountId), eq(unclaimed.identifierKey, fold(identifier)))
  const found = sql`SELECT 1 FROM ${unclaimed} WHERE ${own} LIMIT 1`
  return (await readFirst(statement(db, found))) !== null
}
