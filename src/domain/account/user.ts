import { isWithin, toScopes } from './scope.ts'

/** What a user may do. A key bound to the user never allows more. */
export const PRIVILEGES = ['read', 'write', 'execute', 'admin'] as const
export type Privilege = (typeof PRIVILEGES)[number]

/** The members of a user that a client can write. */
export interface UserRecord {
  name: string
  email: string
  country: string
  timeZone: string
  phone: string | null
  notify: { email: boolean; sms: boolean; push: boolean; voice: boolean }
  description: string
  message: string
  disabled: boolean
  disabledMessage: string
  tags: Record<string, string>
  privileges: Privilege[]
  /** The group that the user is confined to; null for the whole account. */
  groupId: string | null
  deviceId: string | null
  adminDevices: number | null
  from: number | null
  expires: number | null
}

export interface AccessPeriod {
  disabled: boolean
  from: number | null
  expires: number | null
}

/** True for a user who is not disabled and inside `from` (inclusive) to `expires` (exclusive). */
export const canAct = ({ disabled, from, expires }: AccessPeriod, now: number): boolean =>
  !disabled && (from === null || from <= now) && (expires === null || now < expires)

/** A limit without a value is the widest. */
const isWider = (limit: number | null, than: number | null): boolean =>
  than !== null && (limit === null || limit > than)

const LIMITS = ['adminDevices', 'expires'] as const
type Limits = Pick<UserRecord, (typeof LIMITS)[number]>

/** The limits of a user that allow more than those of another one. */
export const widerLimits = (user: Limits, other: Limits): (typeof LIMITS)[number][] =>
  LIMITS.filter((limit) => isWider(user[limit], other[limit]))

/**
 * Whether an edit lets a user do more than before, or lets whoever makes the edit sign in as the
 * user: links to set a password go to the e-mail address.
 */
export const isGain = (before: UserRecord, after: UserRecord, hasNewPassword: boolean): boolean =>
  hasNewPassword ||
  before.email !== after.email ||
  (before.disabled && !after.disabled) ||
  !isWithin(toScopes(after.privileges), toScopes(before.privileges)) ||
  (before.groupId !== null && before.groupId !== after.groupId) ||
  (before.from !== null && (after.from === null || after.from < before.from)) ||
  widerLimits(after, before).length > 0
