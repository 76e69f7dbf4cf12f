import { EVENT_TYPES } from '../../api/types.ts'
import { text } from '../../text/text.ts'

/* Types of events and kinds of them, in words. */

export const kindOf = (type: string): string => type.slice(0, type.indexOf('.'))

export const KINDS: readonly string[] = [...new Set(EVENT_TYPES.map(kindOf))]

/** A type or a pattern such as `device.*` in words. */
export const eventName = (type: string): string => {
  if (type === '*') return text.events.everything
  const names = text.events.types as Record<string, string>
  const kinds = text.events.kinds as Record<string, string>
  if (type.endsWith('.*')) return kinds[kindOf(type)] ?? type
  return names[type] ?? type
}
