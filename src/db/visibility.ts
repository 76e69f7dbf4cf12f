/* Which devices a caller may see: all of the account's or, for a user confined to a group, those in it. Asked nowhere else. */

/** Whose rows are asked for: an account's, or those of the one group that a user is confined to. */
export interface Viewer {
  accountId: string
  groupId: string | null
}

/** SQL: the device with this key is in the group. */
export const inGroup = (deviceKey: string, groupId = '?'): string =>
  `EXISTS (SELECT 1 FROM group_devices WHERE group_id = ${groupId} AND device_key = ${deviceKey})`

/** SQL: a viewer whose `groupId` is bound to this numbered parameter may see the device with this key. */
export const visible = (deviceKey: string, groupId: `?${number}`): string =>
  `(${groupId} IS NULL OR ${inGroup(deviceKey, groupId)})`
