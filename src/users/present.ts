import { iso, isoOrNull } from '../domain/iso.ts'
import type { User } from './store.ts'

export const presentUser = (user: User) => {
  const { version, from, expires, creation, modification, lastLogin, ...record } = user
  return {
    ...record,
    from: isoOrNull(from),
    expires: isoOrNull(expires),
    // Never shown: only a hash of it is stored.
    password: null,
    creation: iso(creation),
    modification: iso(modification),
    lastLogin: isoOrNull(lastLogin),
  }
}
