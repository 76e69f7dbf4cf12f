/** Every type of event. */
export const EVENT_TYPES = [
  'device.created',
  'device.updated',
  'device.deleted',
  'device.restored',
  'device.expired',
  'device.reactivated',
  'location.reported',
  'alert.raised',
  'alert.updated',
  'alert.acknowledged',
  'alert.undelivered',
  'alert.escalated',
  'alert.cancelled',
  'alert.resolved',
  'alert.reopened',
  'alert.noted',
  'zone.entered',
  'zone.left',
  'device.silent',
  'device.returned',
  'watch.due',
  'watch.overdue',
  'watch.checkedIn',
  'message.sent',
  'message.failed',
  'message.suppressed',
  'message.received',
  'limit.reached',
  'license.exhausted',
  'license.available',
  'key.created',
  'key.revoked',
] as const
export type EventType = (typeof EVENT_TYPES)[number]

/** What a filter may name: a type, all types of a kind (`device.*`), or all types (`*`). */
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

/** An empty list does not filter. With both devices and groups, an event of either passes. */
export interface EventFilter {
  types: readonly string[]
  devices: readonly string[]
  groups: readonly string[]
}

/** The part of an event that filters look at. */
export interface Addressed {
  type: string
  deviceId: string | null
  /** The groups that its device is in or, once the device is deleted, was in last. */
  groups: readonly string[]
}

/**
 * `confinedTo` limits a user to one group. The other groups of its devices do not match either:
 * filtering by them would tell which groups a device is in.
 */
export const passes = (
  { types, devices, groups }: EventFilter,
  confinedTo: string | null,
  event: Addressed,
): boolean => {
  if (types.length > 0 && !isWanted(types, event.type)) return false
  if (confinedTo !== null && !event.groups.includes(confinedTo)) return false
  if (devices.length === 0 && groups.length === 0) return true
  const visibleGroups = confinedTo === null ? event.groups : [confinedTo]
  return (
    (event.deviceId !== null && devices.includes(event.deviceId)) ||
    groups.some((group) => visibleGroups.includes(group))
  )
}
