import { dayStart } from '../domain/day.ts'
import type { Device } from '../domain/device.ts'
import { currentDay, endsOf, hasEnded } from '../domain/license.ts'
import { iso, isoOrNull } from '../http/wire.ts'

export interface Extras {
  groups: string[]
  lastContact: number | null
}

/** A device as it goes over the wire: state and usage are told from the account's day at this very instant. */
export const presentDevice = (device: Device, account: { day: string; timeZone: string }, extras: Extras, now: number) => {
  const { id, name, description, min, identifier, model, tags, limits, usage, creation, lastModified } = device
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
    limits,
    usage,
    lastLocation: null,
    lastContact: isoOrNull(extras.lastContact),
    creation: iso(creation),
    lastModified: iso(lastModified),
  }
}
