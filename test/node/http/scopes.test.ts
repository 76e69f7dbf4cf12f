import { expect, test } from 'vitest'
import { app } from '../../../src/app.ts'
import { operationOf } from '../../../src/http/contract/operation.ts'
import { SCOPES_OF } from '../../support/scopes.ts'

const operations = app.routes.flatMap(({ method, handler }) => {
  const contract = operationOf(handler)
  return contract ? [{ method, id: contract.id, scopes: [contract.scope].flat() }] : []
})

test('every operation needs the scopes that test/support/scopes.ts lists for it', () => {
  expect(Object.fromEntries(operations.map(({ id, scopes }) => [id, scopes]))).toEqual(SCOPES_OF)
})

/** They change nothing, or ask for another scope when the body does: `scopeFor`. */
const HARMLESS = ['testRule', 'decodePayload', 'postLocations', 'postAlerts']
/** Change only the caller's own sessions, and which of its browsers get notifications. */
const OWN = ['endSession', 'decideConsent', 'createPushSubscription', 'deletePushSubscription']

test('a token that may only read changes nothing', () => {
  const changing = operations.filter(
    ({ method, id, scopes }) =>
      method !== 'GET' &&
      scopes.some((scope) => scope === 'read') &&
      ![...HARMLESS, ...OWN].includes(id),
  )
  expect(changing).toEqual([])
})
