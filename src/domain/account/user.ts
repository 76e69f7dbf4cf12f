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
  notify: { email: boolean; sms: boolean }
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
