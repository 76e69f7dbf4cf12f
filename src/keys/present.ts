import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { Key } from './store.ts'

export const presentKey = ({ id, name, scopes, userId, creation, expires, lastUsed }: Key) => ({
  id,
  name,
  scopes,
  userId,
  creation: iso(creation),
  expires: isoOrNull(expires),
  lastUsed: isoOrNull(lastUsed),
})
