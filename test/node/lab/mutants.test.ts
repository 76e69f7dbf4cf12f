import { readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import { MUTANTS } from '../../../lab/mutants/list.mjs'

interface Mutant {
  name: string
  file: string
  from: string
  also?: { from: string }
}

test('every mutant replaces text that the code has, once', () => {
  const stale = (MUTANTS as Mutant[]).filter(({ file, from, also }) => {
    const text = readFileSync(file, 'utf8')
    return [from, also?.from ?? from].some((part) => text.split(part).length !== 2)
  })
  expect(stale.map(({ name }) => name)).toEqual([])
})
