/** Everything that an account can be told of. */
export const EVENT_TYPES = [
  'device.created',
  'device.updated',
  'device.deleted',
  'device.expired',
  'device.reactivated',
  'location.reported',
  'alert.raised',
  'alert.acknowledged',
  'message.sent',
  'message.failed',
  'message.suppressed',
  'limit.reached',
  'license.exhausted',
  'license.available',
  'key.created',
  'key.revoked',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What a listener may name: a type, all of a kind (`device.*`), or all (`*`). */
export const EVENT_PATTERNS: readonly string[] = [
  '*',
  ...new Set(EVENT_TYPES.map((type) => type.replace(/\..*/, '.*'))),
  ...EVENT_TYPES,
]

export const isWanted = (patterns: readonly string[], type: string): boolean =>
  patterns.some(
    (pattern) =>
      pattern === '*' ||
      pattern === type ||
      (pattern.endsWith('.*') && type.startsWith(pattern.slice(0, -1))),
  )

/** What a listener asks for. Empty lists leave nothing out; devices and groups together are either's. */
export interface EventFilter {
  types: readonly string[]
  devices: readonly string[]
  groups: readonly string[]
}

/** What of an event decides who gets it. */
export interface Addressed {
  type: string
  deviceId: string | null
  /** The groups that its device is in or, once it is deleted, was in last. */
  groups: readonly string[]
}

/** A user who is confined to a group hears of that group's devices and of nothing else, nor by asking which other groups they are in. */
export const passes = (
  { types, devices, groups }: EventFilter,
  confinedTo: string | null,
  event: Addressed,
): boolean => {
  if (types.length > 0 && !isWanted(types, event.type)) return false
  if (confinedTo !== null && !event.groups.includes(confinedTo)) return false
  if (devices.length === 0 && groups.length === 0) return true
  const shown = confinedTo === null ? event.groups : [confinedTo]
  return (
    (event.deviceId !== null && devices.includes(event.deviceId)) ||
    groups.some((group) => shown.includes(group))
  )
}
