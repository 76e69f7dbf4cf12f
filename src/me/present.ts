import { presentUser } from '../users/present.ts'
import type { User } from '../users/store.ts'

/** What a user may know of the own record: nothing that an administrator noted. */
export const presentCallerUser = (user: User) => {
  const { id, name, email, timeZone, message, notify, privileges, group, groupId, lastLogin } =
    presentUser(user)
  return { id, name, email, timeZone, message, notify, privileges, group, groupId, lastLogin }
}
