import type { Rule, RuleBody, ScheduleEntry } from '../../api/types.ts'
import { CHANNELS, type Channel } from '../../format/channels.ts'
import {
  alertNameFor,
  conditionOf,
  EMPTY_CONDITION,
  numberOrText,
  type TypedCondition,
  typedConditionOf,
} from './condition.ts'
import type { DescribedRule } from './sentence.ts'

/** What is typed into the form of a rule. Numbers stay text until they are sent. */
export interface RuleDraft {
  name: string
  scope: 'all' | 'some'
  devices: readonly string[]
  groups: readonly string[]
  when: TypedCondition
  schedule: readonly ScheduleEntry[]
  /** Empty: by what the rule watches for. */
  alertName: string
  text: string
  notifications: readonly Channel[]
  emergency: boolean
  metres: string
  fixes: string
  cooldownMinutes: string
  lateMinutes: string
}

export const EMPTY_RULE: RuleDraft = {
  name: '',
  scope: 'all',
  devices: [],
  groups: [],
  when: EMPTY_CONDITION,
  schedule: [],
  alertName: '',
  text: '',
  notifications: CHANNELS,
  emergency: false,
  metres: '0',
  fixes: '1',
  cooldownMinutes: '0',
  lateMinutes: '60',
}

export const EMPTY_TIME: ScheduleEntry = {
  days: ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun'],
  from: '20:00',
  to: '06:00',
}

/** A field for times has no 24:00; until 00:00 of the next day is the same. */
const timeOf = (entry: ScheduleEntry): ScheduleEntry =>
  entry.to === '24:00' ? { ...entry, to: '00:00' } : entry

export const ruleDraftOf = (rule: Rule): RuleDraft => {
  const when = typedConditionOf(rule.when)
  return {
    name: rule.name,
    scope: rule.devices.length + rule.groups.length > 0 ? 'some' : 'all',
    devices: rule.devices,
    groups: rule.groups,
    when,
    schedule: rule.schedule.map(timeOf),
    alertName: rule.alertName === alertNameFor(when.type) ? '' : rule.alertName,
    text: rule.text,
    notifications: rule.notifications,
    emergency: rule.emergency,
    metres: String(rule.hysteresis.metres),
    fixes: String(rule.hysteresis.fixes),
    cooldownMinutes: String(rule.cooldownMinutes),
    lateMinutes: String(rule.lateMinutes),
  }
}

/** What is sent. */
export const ruleBodyOf = (draft: RuleDraft) => ({
  name: draft.name.trim(),
  devices: draft.scope === 'some' ? [...draft.devices] : [],
  groups: draft.scope === 'some' ? [...draft.groups] : [],
  when: conditionOf(draft.when),
  schedule: [...draft.schedule],
  alertName: draft.alertName.trim() || alertNameFor(draft.when.type),
  text: draft.text,
  notifications: [...draft.notifications],
  emergency: draft.emergency,
  hysteresis: { metres: numberOrText(draft.metres), fixes: numberOrText(draft.fixes) },
  cooldownMinutes: numberOrText(draft.cooldownMinutes),
  lateMinutes: numberOrText(draft.lateMinutes),
})

/** Without a device or group the rule would be for all devices, although some were chosen. */
export const lacksTarget = ({ scope, devices, groups }: RuleDraft): boolean =>
  scope === 'some' && devices.length + groups.length === 0

export const describedRuleOf = (draft: RuleDraft): DescribedRule => ({
  ...(ruleBodyOf(draft) satisfies RuleBody),
  isForSome: draft.scope === 'some',
})
