import { type SQL, type SQLWrapper, sql } from 'drizzle-orm'
import { devices, groupDevices } from '../schema.ts'
import { type Placeholders, placeholders } from '../statement.ts'

/* The only place that decides which devices a caller may see. */

/** Who reads: the whole account or, with a `groupId`, a user confined to that group. */
export interface Viewer {
  accountId: string
  groupId: string | null
}

type GroupId = SQLWrapper | string | null

/** True when the device with this key is in the group. */
export const isInGroup = (deviceKey: SQLWrapper, groupId: GroupId): SQL =>
  sql`EXISTS (SELECT 1 FROM ${groupDevices}
    WHERE ${groupDevices.groupId} = ${groupId} AND ${groupDevices.deviceKey} = ${deviceKey})`

/** True when a viewer with this `groupId`, which may be null, can see the device with this key. */
export const isVisible = (deviceKey: SQLWrapper, groupId: GroupId): SQL =>
  sql`(${groupId} IS NULL OR ${isInGroup(deviceKey, groupId)})`

/** One device, as a viewer asks for it. */
export interface DeviceRef extends Viewer {
  deviceId: string
}

/** True for the asked device, when the viewer can see it. */
export const isVisibleDevice = (p: Placeholders<DeviceRef>): SQL =>
  sql`${devices.id} = ${p.deviceId} AND ${devices.accountId} = ${p.accountId}
    AND ${isVisible(devices.key, p.groupId)}`

export const IS_VISIBLE_DEVICE = isVisibleDevice(placeholders('deviceId', 'accountId', 'groupId'))
