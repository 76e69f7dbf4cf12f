/** What a user of the account may do; a key bound to the user has at most these. */
export const PRIVILEGES = ['read', 'write', 'admin'] as const
export type Privilege = (typeof PRIVILEGES)[number]

/** What a client may write of a user. */
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
  group: string | null
  deviceId: string | null
  adminDevices: number | null
  from: number | null
  expires: number | null
}

export interface Term {
  disabled: boolean
  from: number | null
  expires: number | null
}

/** Whether a user may act at all, or be written to: not disabled, and inside `from`–`expires`. */
export const mayAct = ({ disabled, from, expires }: Term, now: number): boolean =>
  !disabled && (from === null || from <= now) && (expires === null || now < expires)
