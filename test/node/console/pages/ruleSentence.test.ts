import { describe, expect, test } from 'vitest'
import type { ScheduleEntry } from '../../../../console/api/types.ts'
import type { Condition } from '../../../../console/pages/rules/condition.ts'
import {
  alertNameFor,
  conditionOf,
  EMPTY_CONDITION,
  RULE_TYPES,
  typedConditionOf,
} from '../../../../console/pages/rules/condition.ts'
import { type DescribedRule, describeRule } from '../../../../console/pages/rules/sentence.ts'
import { ALERT_NAMES } from '../../../../src/domain/rule/rule.ts'

const names = {
  device: (id: string) => ({ d1: 'Tern 7', d2: 'Gannet', d3: 'Truck 3' })[id] ?? id,
  group: (id: string) => ({ g1: 'Ships', g2: 'Trucks' })[id] ?? id,
  zone: (id: string) => ({ z1: 'Harbour', z2: 'Dock' })[id] ?? id,
}

const plain: DescribedRule = {
  devices: ['d1'],
  groups: [],
  when: { type: 'leaves', zones: ['z1'] },
  schedule: [],
  alertName: null,
  notifications: [],
  emergency: false,
  cooldownMinutes: 0,
}
const say = (changes: Partial<DescribedRule>) => describeRule({ ...plain, ...changes }, names)
const EVERY_DAY: ScheduleEntry['days'] = ['mon', 'tue', 'wed', 'thu', 'fri', 'sat', 'sun']

describe('a rule in words', () => {
  test('is a sentence', () => {
    expect(
      say({
        schedule: [{ days: EVERY_DAY, from: '20:00', to: '06:00' }],
        notifications: ['Email', 'SMS'],
      }),
    ).toBe(
      'When Tern 7 leaves Harbour between 20:00 and 6:00, raise “Zone left” and notify users by e-mail and SMS.',
    )
  })

  const conditions: [Condition, string, string][] = [
    [{ type: 'enters', zones: ['z1'] }, 'enters Harbour', 'Zone entered'],
    [{ type: 'leaves', zones: ['z1', 'z2'] }, 'leaves Harbour or Dock', 'Zone left'],
    [
      { type: 'inside', zones: ['z1'], minutes: 90 },
      'is in Harbour for longer than 90 minutes',
      'Forbidden area',
    ],
    [
      { type: 'outside', zones: ['z1', 'z2'], minutes: 60 },
      'is outside Harbour and Dock for longer than 1 hour',
      'Forbidden area',
    ],
    [{ type: 'speed', above: 90 }, 'is faster than 90 km/h', 'Speed limit'],
    [
      { type: 'speed', below: 2.5, zones: ['z1'] },
      'is slower than 2.5 km/h in Harbour',
      'Speed limit',
    ],
    [
      { type: 'speed', above: 90, zones: ['z1'], computed: true },
      'is faster than 90 km/h in Harbour (computed where it reports none)',
      'Speed limit',
    ],
    [{ type: 'value', member: 'battery', below: 20 }, 'reports battery below 20', 'Value limit'],
    [
      { type: 'value', member: 'temperature', below: -2, above: 8 },
      'reports temperature below -2 or above 8',
      'Value limit',
    ],
    [{ type: 'moves', metres: 1200 }, 'moves more than 1,200 m within five minutes', 'Moved'],
    [{ type: 'stands', minutes: 1 }, 'stands still for longer than 1 minute', 'Standing'],
    [{ type: 'silent', minutes: 2880 }, 'is silent for longer than 2 days', 'Offline'],
    [{ type: 'returns' }, 'is in contact again after a silence', 'Online'],
  ]

  test.each(conditions)('%o', (when, what, alert) => {
    expect(say({ when })).toBe(`When Tern 7 ${what}, raise “${alert}” without messages.`)
  })

  test('covers every type', () => {
    expect(new Set(conditions.map(([{ type }]) => type))).toEqual(new Set(RULE_TYPES))
  })

  test.each([
    [{ devices: [], groups: [] }, 'any device'],
    [{ devices: [], groups: [], isForSome: true }, 'a chosen device'],
    [{ devices: ['d1', 'd2'] }, 'Tern 7 or Gannet'],
    [{ devices: ['d1', 'd2', 'd3'] }, 'Tern 7, Gannet or Truck 3'],
    [{ devices: ['d1', 'd2', 'd3', 'd4', 'd5'] }, 'Tern 7, Gannet or 3 more'],
    [{ devices: [], groups: ['g1'] }, 'a device of Ships'],
    [{ devices: [], groups: ['g1', 'g2'] }, 'a device of Ships or Trucks'],
    [{ devices: ['d1'], groups: ['g1'] }, 'Tern 7 or a device of Ships'],
  ])('for %o', (changes, who) => {
    expect(say(changes)).toContain(`When ${who} leaves`)
  })

  test.each<[ScheduleEntry[], string]>([
    [[{ days: EVERY_DAY, from: '09:30', to: '24:00' }], 'between 9:30 and 0:00'],
    [[{ days: EVERY_DAY, from: '00:00', to: '24:00' }], 'all day'],
    [[{ days: ['sat', 'sun'], from: '00:00', to: '00:00' }], 'on weekends'],
    [
      [{ days: ['mon', 'tue', 'wed', 'thu', 'fri'], from: '18:00', to: '06:00' }],
      'on weekdays between 18:00 and 6:00',
    ],
    [
      [{ days: ['fri', 'mon', 'wed'], from: '08:00', to: '12:00' }],
      'on Mondays, Wednesdays and Fridays between 8:00 and 12:00',
    ],
    [
      [
        { days: ['mon'], from: '08:00', to: '12:00' },
        { days: ['tue'], from: '10:00', to: '11:00' },
      ],
      'on Mondays between 8:00 and 12:00 or on Tuesdays between 10:00 and 11:00',
    ],
  ])('at %o', (schedule, when) => {
    expect(say({ schedule })).toBe(
      `When Tern 7 leaves Harbour ${when}, raise “Zone left” without messages.`,
    )
  })

  test('says the alert, its messages, an emergency and the pause', () => {
    expect(say({ alertName: 'Own name', notifications: ['SMS'] })).toContain(
      'raise “Own name” and notify users by SMS.',
    )
    expect(say({ emergency: true, notifications: ['Email'] })).toContain(
      'raise the emergency “Zone left” and notify users by e-mail.',
    )
    expect(say({ cooldownMinutes: 45 })).toMatch(/messages\. Then pause for 45 minutes\.$/)
  })

  test('can be said of what is typed so far', () => {
    expect(say({ when: conditionOf(EMPTY_CONDITION) })).toContain('enters a zone')
    const typed = { ...EMPTY_CONDITION, type: 'speed' as const }
    expect(say({ when: conditionOf(typed) })).toContain('is faster than … km/h')
    expect(say({ when: conditionOf({ ...typed, above: 'fast' }) })).toContain('faster than … km/h')
    const stands = { ...EMPTY_CONDITION, type: 'stands' as const, minutes: '' }
    expect(say({ when: conditionOf(stands) })).toContain('longer than …')
  })

  test('shows a hostile name as it is', () => {
    const evil = '<img src=x onerror=alert(1)>'
    expect(describeRule(plain, { ...names, zone: () => evil })).toContain(`leaves ${evil},`)
  })
})

describe('the form of a condition', () => {
  test.each(RULE_TYPES)('knows the alert of %s as the service does', (type) => {
    expect(alertNameFor(type)).toBe(ALERT_NAMES[type])
  })

  test.each<Condition>([
    { type: 'enters', zones: ['z1'] },
    { type: 'outside', zones: ['z1', 'z2'], minutes: 15 },
    { type: 'speed', above: 90 },
    { type: 'speed', below: 3, zones: ['z1'] },
    { type: 'speed', above: 90, computed: true },
    { type: 'value', member: 'battery', above: 1, below: 0 },
    { type: 'moves', metres: 200 },
    { type: 'silent', minutes: 60 },
    { type: 'returns' },
  ])('sends %o as it was read', (when) => {
    expect(conditionOf(typedConditionOf(when))).toEqual(when)
  })

  test('sends no member of another type', () => {
    const typed = { ...typedConditionOf({ type: 'inside', zones: ['z1'], minutes: 15 }) }
    expect(conditionOf({ ...typed, type: 'enters' })).toEqual({ type: 'enters', zones: ['z1'] })
  })
})
