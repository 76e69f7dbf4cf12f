import type { Group } from '../domain/account/group.ts'
import { iso } from '../domain/time/iso.ts'

export const presentGroup = (group: Group) => {
  const { id, name, description, devices, creation, lastModified } = group
  return {
    id,
    name,
    description,
    devices,
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}
