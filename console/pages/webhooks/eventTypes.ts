import { EVENT_TYPES } from '../../api/types.ts'
import { later } from '../../text/later.ts'

/* Types of events and kinds of them, in words. */

export const kindOf = (type: string): string => type.slice(0, type.indexOf('.'))

export const KINDS: readonly string[] = [...new Set(EVENT_TYPES.map(kindOf))]

/** A type or a pattern such as `device.*` in words. */
export const eventName = (type: string): string => {
  if (type === '*') return later.events.everything
  const names = later.events.types as Record<string, string>
  const kinds = later.events.kinds as Record<string, string>
  if (type.endsWith('.*')) return kinds[kindOf(type)] ?? type
  return names[type] ?? type
}
