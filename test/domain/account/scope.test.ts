import { expect, test } from 'vitest'
import { allows, isWithin, SCOPES, type Scope } from '../../../src/domain/account/scope.ts'

/** What each scope grants, according to the contract. */
const GRANTED: Record<Scope, Scope[]> = {
  ingest: ['ingest'],
  read: ['read'],
  write: ['ingest', 'read', 'write'],
  execute: ['execute'],
  admin: ['ingest', 'read', 'write', 'execute', 'admin'],
}

const everySet: Scope[][] = Array.from({ length: 2 ** SCOPES.length }, (_, bits) =>
  SCOPES.filter((_, index) => bits & (1 << index)),
)

test('a set of scopes grants what any one of them grants', () => {
  for (const held of everySet) {
    for (const wanted of SCOPES) {
      expect(allows(held, wanted), `${held} for ${wanted}`).toBe(
        held.some((scope) => GRANTED[scope].includes(wanted)),
      )
    }
  }
})

test('a set is within another when it grants nothing that the other does not', () => {
  for (const asked of everySet) {
    for (const held of everySet) {
      const wider = SCOPES.some((scope) => allows(asked, scope) && !allows(held, scope))
      expect(isWithin(asked, held), `${asked} within ${held}`).toBe(!wider)
    }
  }
})
