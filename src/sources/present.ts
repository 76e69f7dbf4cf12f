import type { Source, SourceCounts, SourceItem } from '../domain/account/source.ts'
import { iso, isoOrNull } from '../domain/time/iso.ts'
import type { Location } from '../domain/track/location.ts'
import { shownSettings } from './settings.ts'
import type { UnclaimedIdentifier } from './unclaimed/unclaimed.ts'

const presentReported = (location: Location) => ({ ...location, dateTime: iso(location.dateTime) })

export const presentItem = ({ formerIdentifier: _, ...item }: SourceItem) => {
  if (item.kind === 'none') {
    const { okAt: _, ...shown } = item
    return shown
  }
  if (item.kind === 'alert') {
    const { isMessageId: _, ...shown } = item
    return { ...shown, dateTime: iso(item.dateTime) }
  }
  if (item.kind !== 'location') return { ...item, dateTime: iso(item.dateTime) }
  const { location, okAt: __, ...rest } = item
  return { ...rest, location: presentReported(location) }
}

export const presentSource = (source: Source & SourceCounts) => ({
  id: source.id,
  name: source.name,
  provider: source.provider,
  enabled: source.enabled,
  settings: shownSettings(source.provider, source.settings),
  newDevices: source.newDevices,
  keepRaw: source.keepRaw,
  lastReceived: isoOrNull(source.lastReceived),
  unclaimed: source.unclaimed,
  failures: source.failures,
  creation: iso(source.creation),
  lastModified: iso(source.lastModified),
})

export const presentUnclaimed = (one: UnclaimedIdentifier) => ({
  identifier: one.identifier,
  count: one.count,
  firstReceived: iso(one.firstReceived),
  lastReceived: iso(one.lastReceived),
  lastLocation: one.lastItem?.kind === 'location' ? presentReported(one.lastItem.location) : null,
})
