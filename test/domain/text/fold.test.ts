import { expect, test } from 'vitest'
import { fold } from '../../../src/domain/text/fold.ts'

test('folding ignores case, width and composition', () => {
  for (const [one, other] of [
    ['TERN', 'tern'],
    ['Ｔｅｒｎ', 'tern'],
    ['A\u030Angstro\u0308m', 'ångström'],
  ] as const)
    expect(fold(one)).toBe(fold(other))
})

test('folding ignores the final sigma, so a prefix in capitals matches', () => {
  expect(fold('ΟΔΥΣΣΕΑΣ').startsWith(fold('ΟΔΥΣ'))).toBe(true)
  expect(fold('ας')).toBe(fold('ΑΣ'))
})
