import {
  type DayReport,
  type DayUsage,
  DEFAULT_MAX_SPEED,
  type Device,
  NO_RESERVE,
} from '../domain/account/device.ts'
import { currentDay, endsOf, hasEnded } from '../domain/account/license.ts'
import { dayStart } from '../domain/time/day.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { StoredLocation } from '../domain/track/location.ts'
import { presentLocation } from '../locations/present.ts'

/** What only the cell knows of a device. */
export interface Extras {
  groups: string[]
  lastLocation: StoredLocation | null
  lastContact: number | null
  quarantined: number
}

/** Of a device whose cell could not be read. */
export const NO_EXTRAS: Extras = {
  groups: [],
  lastLocation: null,
  lastContact: null,
  quarantined: 0,
}

export const presentUsage = ({ date, sent }: DayUsage) => ({
  date,
  emailsSent: sent.Email ?? 0,
  smsSent: sent.SMS ?? 0,
})

/** A past day. */
export const presentDay = ({ suppressed, ...usage }: DayReport) => ({
  ...presentUsage(usage),
  ...(suppressed.Email && { emailsSuppressed: suppressed.Email }),
  ...(suppressed.SMS && { smsSuppressed: suppressed.SMS }),
})

/** A device as replies show it. Its state depends on the account's day at `now`. */
export const presentDevice = (
  device: Device,
  account: { day: string; timeZone: string },
  extras: Extras,
  now: number,
) => {
  const {
    id,
    name,
    description,
    min,
    identifier,
    model,
    tags,
    limits,
    maxSpeed = DEFAULT_MAX_SPEED,
    usage,
    creation,
    lastModified,
  } = device
  const ends = endsOf(limits)
  return {
    id,
    name,
    description,
    min,
    identifier,
    model,
    tags,
    groups: extras.groups,
    state: hasEnded(ends, currentDay(account, now)) ? ('expired' as const) : ('active' as const),
    expires: ends === null ? null : iso(dayStart(ends, account.timeZone)),
    limits: { ...limits, emergencyReserve: limits.emergencyReserve ?? NO_RESERVE },
    maxSpeed,
    usage: presentUsage(usage),
    lastLocation: extras.lastLocation && presentLocation(extras.lastLocation),
    lastContact: isoOrNull(extras.lastContact),
    quarantined: extras.quarantined,
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}
