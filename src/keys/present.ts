import { iso, isoOrNull } from '../domain/iso.ts'
import { SCOPES } from '../domain/scope.ts'
import type { KeyRow } from './store.ts'

export const presentKey = ({ id, name, scopes, userId, creation, expires, lastUsed }: KeyRow) => ({
  id,
  name,
  scopes: SCOPES.filter((scope) => scopes.includes(scope)),
  userId,
  creation: iso(creation),
  expires: isoOrNull(expires),
  lastUsed: isoOrNull(lastUsed),
})
