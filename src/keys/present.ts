import { iso, isoOrNull } from '../domain/iso.ts'
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
