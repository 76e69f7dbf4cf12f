import { expect, test } from 'vitest'
import { load } from '../support/load.ts'

const { isPhone, tidyPhone } = await load<{
  isPhone: (value: string) => boolean
  tidyPhone: (typed: string) => string
}>('ui/form/phone.ts')

test.each([
  ['+351 912 345 678', '+351912345678'],
  ['+44 (20) 7946–0018', '+442079460018'],
  ['00351912345678', '+351912345678'],
  ['', ''],
])('%j is sent as %j', (typed, sent) => {
  expect(tidyPhone(typed)).toBe(sent)
})

test.each([
  ['+351912345678', true],
  ['+8816320000000', true],
  ['912345678', false],
  ['+0351912345678', false],
  ['+35191', false],
  ['+3519123456789012', false],
  ['+351912x45678', false],
])('whether %j is a phone number: %j', (value, expected) => {
  expect(isPhone(value)).toBe(expected)
})
