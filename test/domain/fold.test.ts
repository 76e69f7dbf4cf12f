import { expect, test } from 'vitest'
import { fold } from '../../src/domain/fold.ts'

test('case, width and composition do not count', () => {
  for (const [one, other] of [
    ['TERN', 'tern'],
    ['Ｔｅｒｎ', 'tern'],
    ['A\u030Angstro\u0308m', 'ångström'],
  ] as const)
    expect(fold(one)).toBe(fold(other))
})

test('nor which sigma a word ends on, so that what begins a word begins it in capitals too', () => {
  expect(fold('ΟΔΥΣΣΕΑΣ').startsWith(fold('ΟΔΥΣ'))).toBe(true)
  expect(fold('ας')).toBe(fold('ΑΣ'))
})
