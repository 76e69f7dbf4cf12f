import { expect, test } from 'vitest'
import { numberAt } from '../../src/domain/account.ts'
import { deviceKey, keysBeside } from '../../src/domain/device.ts'

test('for five hundred years the numbers of accounts make device keys that are whole numbers, apart from one another', () => {
  const number = numberAt(Date.UTC(2536, 0, 1))
  const last = deviceKey(number, 2 ** 24 - 1)
  expect(Number.isSafeInteger(last)).toBe(true)
  expect(keysBeside(last)).toEqual([deviceKey(number, 0), last])
  expect(deviceKey(number + 1, 0)).toBe(last + 1)
})

test('the number that an account gets at the least grows with the clock, and a clock that is far behind gives none below 0', () => {
  const now = Date.UTC(2027, 0, 1)
  expect(numberAt(now + 60_000) - numberAt(now)).toBe(2)
  expect(numberAt(0)).toBe(0)
})
