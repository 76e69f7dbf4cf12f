import { expect, test } from 'vitest'
import { smsSegments } from '../../../src/domain/message/gsm7.ts'
import {
  effectiveMessageBudgets,
  emergencyReserve,
  parseMessagesPerLicense,
  resetLimit,
} from '../../../src/domain/message/messageBudget.ts'

test('the setting names channels with a number each; those left out have the default', () => {
  const defaults = { Email: 100, SMS: 20, Push: 1000, Voice: 20 }
  expect(parseMessagesPerLicense('')).toEqual(defaults)
  expect(parseMessagesPerLicense('SMS 5')).toEqual({ ...defaults, SMS: 5 })
  expect(parseMessagesPerLicense(' Email 0,  Voice 7 ')).toEqual({
    ...defaults,
    Email: 0,
    Voice: 7,
  })
  for (const fault of ['100', 'Email', 'Email -1', 'Email 1.5', 'Fax 3', 'Email 99999999', 'SMS=3'])
    expect(parseMessagesPerLicense(fault), fault).toBeNull()
})

test('a budget is the operator’s, or one share for each license and at least one', () => {
  const perLicense = { Email: 100, SMS: 20, Push: 1000, Voice: 5 }
  const overrides = { Email: null, SMS: 3, Push: null, Voice: 0 }
  const set = { SMS: 3, Voice: 0 }
  expect(effectiveMessageBudgets(overrides, perLicense, 0)).toEqual({
    ...set,
    Email: 100,
    Push: 1000,
  })
  expect(effectiveMessageBudgets(overrides, perLicense, 4)).toEqual({
    ...set,
    Email: 400,
    Push: 4000,
  })
})

test('emergencies have a fifth on top, at least 20', () => {
  expect([0, 100, 101, 1000].map(emergencyReserve)).toEqual([20, 20, 21, 200])
})

test('resets have a tenth of the e-mails beside them, 20 to 100', () => {
  expect([0, 100, 201, 1000, 5000].map(resetLimit)).toEqual([20, 20, 21, 100, 100])
})

test('an SMS of several segments has fewer characters in each', () => {
  const lengths = ['a'.repeat(160), 'a'.repeat(161), '€'.repeat(80), 'ж'.repeat(70), 'ж'.repeat(71)]
  expect(lengths.map(smsSegments)).toEqual([1, 2, 1, 1, 2])
})
