import type { Resource } from '../account/resource.ts'
import { MAX_ACCOUNT_VERTICES, MIN_RULE_POSITIONS } from '../geo/zone.ts'
import type { Channel } from '../message/alert.ts'
import { countOf } from '../text/countOf.ts'
import type { ScheduleEntry } from '../time/schedule.ts'

/* Rules: what the service watches for, and the alert that it raises then. */

export interface Limits {
  above?: number | undefined
  below?: number | undefined
}

export type RuleCondition =
  | { type: 'enters' | 'leaves'; zones: string[] }
  | { type: 'inside' | 'outside'; zones: string[]; minutes: number }
  | ({ type: 'speed'; zones?: string[] | undefined; computed?: boolean | undefined } & Limits)
  | ({ type: 'value'; member: string } & Limits)
  | { type: 'moves'; metres: number }
  | { type: 'stands'; minutes: number }
  | { type: 'silent'; minutes: number }
  | { type: 'returns' }
export type RuleType = RuleCondition['type']

export interface Hysteresis {
  /** A fix decides only if the border is at least this far away. */
  metres: number
  /** How many decided fixes in a row must agree. */
  fixes: number
}

export interface RuleRecord {
  name: string
  enabled: boolean
  /** With neither devices nor groups the rule is for all devices. */
  devices: string[]
  groups: string[]
  when: RuleCondition
  schedule: ScheduleEntry[]
  alertName: string
  text: string
  notifications: Channel[]
  emergency: boolean
  hysteresis: Hysteresis
  cooldownMinutes: number
  /** An alert that is older when its fix arrives sends no message. */
  lateMinutes: number
  /** Since when it watches for `when`. Absent in rules that were stored before there was this. */
  conditionChanged?: number | undefined
  /** When it last got other devices or groups; absent if never. */
  targetsChanged?: number | undefined
}

export type Rule = RuleRecord & Resource

export const MAX_RULES = 200
/**
 * Of the zones that rules name, counted for each rule. With as many in circles, a location takes
 * about 20 ms of CPU time and 1000 about 0.6 s. Zones of long, parallel, diagonal edges, which no box
 * separates, take 55 to 85 ms, and 11 to 16 s in slices, which the rate limit counts.
 */
export const MAX_RULE_POSITIONS = 100_000
export const MAX_RULE_ZONES = 100
export const MAX_RULE_TARGETS = 1000
export const MAX_MINUTES = 43_200
export const MAX_AGREEING_FIXES = 20
/** The last of so many says how many more there were. */
export const MAX_REPORT_ALERTS = 50

export const ALERT_NAMES: Record<RuleType, string> = {
  enters: 'ZoneEntered',
  leaves: 'ZoneLeft',
  inside: 'ForbiddenArea',
  outside: 'ForbiddenArea',
  speed: 'SpeedLimit',
  value: 'ValueLimit',
  moves: 'Moved',
  stands: 'Standing',
  silent: 'Offline',
  returns: 'Online',
}

/** Rules of these types are evaluated by the sweep, all others by reports. */
export const isContactRule = ({ when }: { when: RuleCondition }): boolean =>
  when.type === 'silent' || when.type === 'returns'

/** From when on a condition that already holds raises an alert. */
export const watchesSince = ({ conditionChanged, creation }: Rule): number =>
  conditionChanged ?? creation

const conditionOf = ({ when, hysteresis }: RuleRecord): string => JSON.stringify([when, hysteresis])

/** Whether the rule begins anew: with another condition, or because it is enabled again. */
export const beginsAnew = (before: RuleRecord, after: RuleRecord): boolean =>
  conditionOf(before) !== conditionOf(after) || (after.enabled && !before.enabled)

const targetsOf = ({ devices, groups }: RuleRecord): string => JSON.stringify([devices, groups])

export const hasOtherTargets = (before: RuleRecord, after: RuleRecord): boolean =>
  targetsOf(before) !== targetsOf(after)

export const zonesOf = (when: RuleCondition): string[] =>
  'zones' in when ? (when.zones ?? []) : []

/** Whether a rule is for a device, given the groups that the device is in. */
export const isForDevice = (
  { devices, groups }: { devices: readonly string[]; groups: readonly string[] },
  deviceId: string,
  deviceGroups: readonly string[],
): boolean =>
  (devices.length === 0 && groups.length === 0) ||
  devices.includes(deviceId) ||
  groups.some((group) => deviceGroups.includes(group))

const formatCount = (count: number): string => count.toLocaleString('en')

/** The limits of an account's rules in a sentence. */
export const RULE_LIMITS = `An account can have ${MAX_RULES} rules. The zones that they name have at most ${formatCount(MAX_RULE_POSITIONS)} positions, counted for each rule that names a zone; one with fewer than ${MIN_RULE_POSITIONS} positions, such as a circle, counts as ${MIN_RULE_POSITIONS}.`

export interface RuleUse {
  rules: number
  /** Of the zones that the rules name, counted for each rule. */
  positions: number
  /** Of all zones. */
  vertices: number
}

/** What an account uses of the limits of rules and zones. */
export const describeRuleUse = ({ rules, positions, vertices }: RuleUse): string =>
  `${RULE_LIMITS} This account has ${countOf(rules, 'rule')} whose zones count as ${formatCount(positions)} positions; all its zones have ${formatCount(vertices)} of ${formatCount(MAX_ACCOUNT_VERTICES)}. Delete rules that are no longer used, name fewer zones in them, or draw the zones with fewer positions.`

const rounded = (value: number): string => String(Math.round(value * 100) / 100)

interface Occasion {
  when: RuleCondition
  zoneName: string | null
  /** The value that passed its limit. */
  value: number | null
  /** Whether a speed is not the one that was reported. */
  isComputed?: boolean
}

/** What an alert says when its rule has no text of its own. */
export const describeOccasion = ({ when, zoneName, value, isComputed }: Occasion): string => {
  const zone = zoneName ?? 'the zones of the rule'
  const given = value === null ? '' : rounded(value)
  switch (when.type) {
    case 'enters':
      return `Entered ${zone}.`
    case 'leaves':
      return `Left ${zone}.`
    case 'inside':
      return `In ${zone} for ${countOf(when.minutes, 'minute')}.`
    case 'outside':
      return `Outside ${zone} for ${countOf(when.minutes, 'minute')}.`
    case 'speed':
      return `Speed ${given} km/h${zoneName === null ? '' : ` in ${zone}`}${isComputed ? ', computed from two positions' : ''}.`
    case 'value':
      return `${when.member} is ${given}.`
    case 'moves':
      return `Moved more than ${when.metres} m.`
    case 'stands':
      return `Stands for ${countOf(when.minutes, 'minute')}.`
    case 'silent':
      return `No contact for ${countOf(when.minutes, 'minute')}.`
    case 'returns':
      return 'In contact again.'
  }
}
