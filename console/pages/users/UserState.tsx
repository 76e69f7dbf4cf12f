import type { User } from '../../api/types.ts'
import { now } from '../../format/time.ts'
import { text } from '../../text/text.ts'
import { Badge } from '../../ui/Page.tsx'

export const PRIVILEGES = ['read', 'write', 'execute', 'admin'] as const

/** The widest privilege in words. */
export const privilegeName = ({ privileges }: Pick<User, 'privileges'>): string => {
  const widest = PRIVILEGES.findLast((one) => privileges.includes(one))
  return widest ? text.users.privilegeNames[widest] : text.users.noPermission
}

export const UserState = ({ user }: { user: User }) => {
  if (user.disabled) return <Badge kind="bad">{text.users.disabled}</Badge>
  if (user.from && Date.parse(user.from) > now.value)
    return <Badge kind="info">{text.users.notYet}</Badge>
  if (user.expires && Date.parse(user.expires) <= now.value)
    return <Badge kind="warn">{text.users.expired}</Badge>
  if (user.invited) return <Badge kind="info">{text.users.invitedState}</Badge>
  return <Badge kind="good">{text.users.active}</Badge>
}
