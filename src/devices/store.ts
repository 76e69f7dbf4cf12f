import { and, eq, type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import type { SQLiteColumn } from 'drizzle-orm/sqlite-core'
import type { Database } from '../db/open.ts'
import { parseLocation, selectLastLocation } from '../db/queries/locations.ts'
import { type DeviceRef, IS_VISIBLE_DEVICE, type Viewer } from '../db/queries/visibility.ts'
import { accounts, devices, groupDevices, groups } from '../db/schema.ts'
import { compile, readFirst, statement } from '../db/statement.ts'
import type { Device } from '../domain/account/device.ts'
import { currentDay } from '../domain/account/license.ts'
import type { StoredLocation } from '../domain/track/location.ts'

/** A device as its cell has it, with the account's day and zone, which decide its state. */
export interface StoredDevice {
  device: Device
  account: { day: string; timeZone: string }
  groups: string[]
  lastLocation: StoredLocation | null
  lastContact: number | null
}

export interface DeviceRow {
  key: number
  id: string
  name: string
  name_key: string
  description: string
  min: string
  identifier: string | null
  model: string
  tags: string
  expires: number
  expiration_date: string | null
  daily_email_limit: number
  daily_sms_limit: number
  email_reserve: number
  sms_reserve: number
  max_speed: number
  usage_date: string | null
  emails_sent: number
  sms_sent: number
  last_contact: number | null
  creation: number
  last_modified: number
  version: number
  time_zone: string
  day: string
  groups: string
  last_location: string | null
}

/** The table, or rows of it under another name. */
type DeviceSource = SQLWrapper & { key: SQLiteColumn }

const selectGroups = (deviceKey: SQLWrapper): SQL =>
  sql`(SELECT json_group_array(group_id) FROM (
    SELECT ${groupDevices.groupId} FROM ${groupDevices}
    WHERE ${groupDevices.deviceKey} = ${deviceKey} ORDER BY ${groupDevices.groupId}))`

/** The columns of a `DeviceRow`, from devices joined with `accounts`. */
export const deviceColumns = (source: DeviceSource): SQL =>
  sql`${source}.*, ${accounts.timeZone}, ${accounts.day},
    ${selectLastLocation(source.key)} AS last_location, ${selectGroups(source.key)} AS groups`

/** A confined viewer sees no group but its own. */
export const toStoredDevice = (row: DeviceRow, { groupId }: Viewer, now: number): StoredDevice => {
  const account = { day: row.day, timeZone: row.time_zone }
  const today = currentDay(account, now)
  const isToday = row.usage_date === today
  const lastLocation = parseLocation(row.last_location)
  return {
    account,
    groups: (JSON.parse(row.groups) as string[]).filter((id) => groupId === null || id === groupId),
    lastLocation,
    lastContact: Math.max(row.last_contact ?? 0, lastLocation?.receivedAt ?? 0) || null,
    device: {
      key: row.key,
      id: row.id,
      name: row.name,
      description: row.description,
      min: row.min,
      identifier: row.identifier,
      model: row.model,
      tags: JSON.parse(row.tags) as Record<string, string>,
      limits: {
        expires: row.expires === 1,
        expirationDate: row.expiration_date,
        dailyEmailLimit: row.daily_email_limit,
        dailySmsLimit: row.daily_sms_limit,
        emergencyReserve: { email: row.email_reserve, sms: row.sms_reserve },
      },
      maxSpeed: row.max_speed,
      usage: {
        date: today,
        sent: isToday ? { Email: row.emails_sent, SMS: row.sms_sent } : {},
      },
      creation: row.creation,
      lastModified: row.last_modified,
      version: row.version,
    },
  }
}

const selectDevice = compile<DeviceRef, DeviceRow>(
  sql`SELECT ${deviceColumns(devices)}
    FROM ${devices} JOIN ${accounts} ON ${accounts.id} = ${devices.accountId}
    WHERE ${IS_VISIBLE_DEVICE}`,
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
