import { expect, test } from 'vitest'
import { minAccountNumber } from '../../../src/domain/account/account.ts'
import { deviceKey, keysBeside } from '../../../src/domain/account/device.ts'

test('device keys stay safe integers and never overlap for five hundred years', () => {
  const number = minAccountNumber(Date.UTC(2536, 0, 1))
  const last = deviceKey(number, 2 ** 24 - 1)
  expect(Number.isSafeInteger(last)).toBe(true)
  expect(keysBeside(last)).toEqual([deviceKey(number, 0), last])
  expect(deviceKey(number + 1, 0)).toBe(last + 1)
})

test('the lowest account number grows with the clock and is never below 0', () => {
  const now = Date.UTC(2027, 0, 1)
  expect(minAccountNumber(now + 60_000) - minAccountNumber(now)).toBe(2)
  expect(minAccountNumber(0)).toBe(0)
})
