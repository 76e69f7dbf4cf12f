import type { Share } from '../domain/share/share.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'

export const presentShare = ({ version, ...share }: Share) => ({
  id: share.id,
  name: share.name,
  devices: share.devices,
  groups: share.groups,
  from: isoOrNull(share.from),
  until: isoOrNull(share.until),
  history: share.history,
  delayMinutes: share.delayMinutes,
  precision: share.precision,
  // Never shown: only a hash of it is stored.
  password: null,
  hasPassword: share.hasPassword,
  views: share.views,
  lastViewed: isoOrNull(share.lastViewed),
  creation: iso(share.creation),
  lastModified: iso(share.lastModified),
})
