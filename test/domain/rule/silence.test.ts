import { expect, test } from 'vitest'
import type { Rule, RuleCondition } from '../../../src/domain/rule/rule.ts'
import { type ContactedDevice, evaluateContact } from '../../../src/domain/rule/silence.ts'

const MINUTE = 60_000
const NOON = Date.UTC(2026, 10, 14, 12)

const ruleOf = (id: string, when: RuleCondition, more: Partial<Rule> = {}): Rule => ({
  id,
  name: id,
  enabled: true,
  devices: [],
  groups: [],
  when,
  schedule: [],
  alertName: 'Offline',
  text: '',
  notifications: [],
  emergency: false,
  hysteresis: { metres: 0, fixes: 1 },
  cooldownMinutes: 0,
  lateMinutes: 60,
  creation: 0,
  lastModified: 0,
  version: 1,
  ...more,
})

const SILENT = ruleOf('silent', { type: 'silent', minutes: 30 })
const RETURNS = ruleOf('returns', { type: 'returns' })

const deviceOf = (more: Partial<ContactedDevice> = {}): ContactedDevice => ({
  id: 'dev_1',
  key: 1,
  contact: NOON,
  groups: [],
  marks: {},
  ...more,
})

const evaluate = (device: ContactedDevice, rules: Rule[], minute: number) => {
  const found = evaluateContact(device, { rules, timeZone: 'UTC', now: NOON + minute * MINUTE })
  return {
    silences: found.silences.map(({ rule, at, isRaised }) => [rule.id, at - NOON, isRaised]),
    returns: found.returns.map(({ rule, returnRules }) => [
      rule.id,
      returnRules.map(({ id }) => id),
    ]),
  }
}

test('a device is silent when its minutes are over, once', () => {
  expect(evaluate(deviceOf(), [SILENT], 29).silences).toEqual([])
  expect(evaluate(deviceOf(), [SILENT], 30).silences).toEqual([['silent', 30 * MINUTE, true]])
  expect(evaluate(deviceOf({ marks: { silent: NOON } }), [SILENT], 90).silences).toEqual([])
})

test('a device that has never reported is not silent, nor is one that was before the rule', () => {
  expect(evaluate(deviceOf({ contact: 0 }), [SILENT], 90).silences).toEqual([])
  const later = { ...SILENT, lastModified: NOON + 31 * MINUTE }
  expect(evaluate(deviceOf(), [later], 90).silences).toEqual([])
})

test('a rule is for its devices and groups, and raises alerts within its schedule', () => {
  expect(evaluate(deviceOf(), [{ ...SILENT, devices: ['dev_2'] }], 90).silences).toEqual([])
  const ofGroup = { ...SILENT, groups: ['grp_1'] }
  expect(evaluate(deviceOf({ groups: ['grp_1'] }), [ofGroup], 90).silences).toHaveLength(1)
  const night = { ...SILENT, schedule: [{ days: ['sat' as const], from: '20:00', to: '22:00' }] }
  expect(evaluate(deviceOf(), [night], 90).silences).toEqual([['silent', 30 * MINUTE, false]])
})

test('a device that was silent returns, and may be silent again', () => {
  const back = deviceOf({ marks: { silent: NOON - 90 * MINUTE } })
  expect(evaluate(back, [SILENT, RETURNS], 1)).toEqual({
    silences: [],
    returns: [['silent', ['returns']]],
  })
  expect(evaluate(back, [SILENT], 1).returns).toEqual([['silent', []]])
  expect(evaluate(back, [SILENT, RETURNS], 40)).toEqual({
    silences: [['silent', 30 * MINUTE, true]],
    returns: [['silent', ['returns']]],
  })
})
