import { expect, test } from 'vitest'
import {
  describeOccasion,
  describeRuleUse,
  type RuleCondition,
} from '../../../src/domain/rule/rule.ts'
import { countOf } from '../../../src/domain/text/countOf.ts'

const say = (when: RuleCondition, zoneName: string | null = null) =>
  describeOccasion({ when, zoneName, value: null })

test.each([
  [1, '1 minute'],
  [2, '2 minutes'],
])('what lasted %i is said as %s', (minutes, said) => {
  const zones = ['zon_1']
  expect(say({ type: 'inside', zones, minutes }, 'Harbour')).toBe(`In Harbour for ${said}.`)
  expect(say({ type: 'outside', zones, minutes })).toBe(
    `Outside the zones of the rule for ${said}.`,
  )
  expect(say({ type: 'stands', minutes })).toBe(`Stands for ${said}.`)
  expect(say({ type: 'silent', minutes })).toBe(`No contact for ${said}.`)
})

test('a speed that was computed is said to be', () => {
  const speed = (more: object) =>
    describeOccasion({ when: { type: 'speed', above: 90 }, zoneName: null, value: 95.123, ...more })
  expect(speed({})).toBe('Speed 95.12 km/h.')
  expect(speed({ isComputed: true })).toBe('Speed 95.12 km/h, computed from two positions.')
  expect(speed({ isComputed: true, zoneName: 'Harbour' })).toBe(
    'Speed 95.12 km/h in Harbour, computed from two positions.',
  )
})

test('one of anything has no plural', () => {
  expect([0, 1, 2].map((count) => countOf(count, 'day'))).toEqual(['0 days', '1 day', '2 days'])
  const use = { positions: 16, vertices: 1 }
  expect(describeRuleUse({ ...use, rules: 1 })).toContain('This account has 1 rule whose')
  expect(describeRuleUse({ ...use, rules: 2 })).toContain('This account has 2 rules whose')
})
