import { iso, isoOrNull } from '../domain/time/iso.ts'
import { pinnedVersion } from '../http/version/versions.ts'
import type { Key } from './store.ts'

export const presentKey = (key: Key) => ({
  id: key.id,
  name: key.name,
  scopes: key.scopes,
  userId: key.userId,
  creation: iso(key.creation),
  expires: isoOrNull(key.expires),
  lastUsed: isoOrNull(key.lastUsed),
  version: pinnedVersion(key.apiVersion),
  support: key.operatorId === null ? null : { operator: key.name, reason: key.supportReason ?? '' },
})
