import type { Group } from '../domain/account/group.ts'
import { iso } from '../domain/time/iso.ts'

export const presentGroup = ({ version, ...group }: Group) => ({
  ...group,
  creation: iso(group.creation),
  lastModified: iso(group.lastModified),
})
