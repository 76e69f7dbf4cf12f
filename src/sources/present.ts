import { iso } from '../domain/iso.ts'
import type { SourceItem } from '../domain/source.ts'

export const presentItem = (item: SourceItem) => {
  if (item.kind === 'none') return item
  if (item.kind !== 'location') return { ...item, dateTime: iso(item.dateTime) }
  const { location, ...rest } = item
  return { ...rest, location: { ...location, dateTime: iso(location.dateTime) } }
}
