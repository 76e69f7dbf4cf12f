import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { User } from './store.ts'

export const presentUser = (user: User) => {
  const { version, groupName, from, expires, creation, modification, ...shown } = user
  const { lastLogin, lastSeen, ...record } = shown
  return {
    ...record,
    // A group that is missing must not be shown as the whole account.
    group: groupName ?? record.groupId,
    from: isoOrNull(from),
    expires: isoOrNull(expires),
    // Never shown: only a hash of it is stored.
    password: null,
    creation: iso(creation),
    modification: iso(modification),
    lastLogin: isoOrNull(lastLogin),
    lastSeen: isoOrNull(lastSeen),
  }
}
