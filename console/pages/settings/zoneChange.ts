import type { Device, Licenses } from '../../api/types.ts'
import { dayIn } from '../../format/time.ts'

/** What another time zone would do to the devices of an account. */
export interface ZoneChange {
  /** Today's date in the new zone. */
  today: string
  expiring: Device[]
  reviving: Device[]
  /** How many licenses the change needs more than are free. */
  missing: number
}

/**
 * A device expires when its date begins in the account's zone, so another zone can expire it earlier
 * or make it active again. The service refuses a change for which licenses are missing.
 */
export const previewZone = (
  devices: readonly Device[],
  { available }: Licenses,
  timeZone: string,
  at: number,
): ZoneChange => {
  const today = dayIn(timeZone, at)
  const isExpiredThen = ({ limits }: Device) =>
    limits.expires && limits.expirationDate !== null && limits.expirationDate <= today
  const expiring = devices.filter((one) => one.state === 'active' && isExpiredThen(one))
  const reviving = devices.filter((one) => one.state === 'expired' && !isExpiredThen(one))
  const needed = reviving.length - expiring.length - available
  return { today, expiring, reviving, missing: Math.max(0, needed) }
}
