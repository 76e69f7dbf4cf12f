import { afterAll, beforeAll, describe, expect, test, vi } from 'vitest'
import { storesMore } from '../../src/http/contract/contract.ts'
import { recordObjectScans, recordStatements, scansOf } from './db/scans.ts'
import { checkAuthentication } from './everyRoute/authentication.ts'
import { checkBodies } from './everyRoute/bodies.ts'
import { checkBoundTokens } from './everyRoute/boundTokens.ts'
import { clearDatabases, type Fixture, makeFixture } from './everyRoute/fixture.ts'
import { checkNulls } from './everyRoute/nulls.ts'
import { checkPaths } from './everyRoute/paths.ts'
import { checkReplies } from './everyRoute/replies.ts'
import { routes, routesWithoutContract, WITHOUT_CONTRACT } from './everyRoute/routes.ts'
import { SAMPLES } from './everyRoute/samples.ts'

// Sending thousands of log lines to the reporter takes a tenth of the time.
vi.spyOn(console, 'log').mockImplementation(() => {})
const statements = recordStatements()
const objectScans = await recordObjectScans()

test('every route has a contract, except the listed ones', () => {
  expect(routesWithoutContract).toEqual(WITHOUT_CONTRACT)
})

test('every operation has a row in everyRoute/samples.ts, and every row an operation', () => {
  expect(Object.keys(SAMPLES).sort()).toEqual([...new Set(routes.map(({ id }) => id))].sort())
})

/** They store nothing more, free space, are needed for security, or ask for the storage themselves. */
const WITHOUT_STORAGE = [
  'acknowledgeAlert',
  'cancelAlert',
  'cancelWatch',
  'checkInWatch',
  'claimIdentifier',
  'completeWatch',
  'decideConsent',
  'decodePayload',
  'discardQuarantine',
  'exportAccount',
  'extendWatch',
  'keepSandbox',
  'noteAlert',
  'patchAccount',
  'postAlerts',
  'postLocations',
  'reactivateDevice',
  'regenerateKey',
  'releaseQuarantine',
  'reopenAlert',
  'reportLocations',
  'resolveAlert',
  'restoreDevice',
  'retryMessage',
  'rotateSecret',
  'rotateSource',
  'showWatchLink',
  'testRule',
]

test('every operation that may store something asks for storage, except the listed ones', () => {
  const others = routes.filter(({ method, contract }) => {
    const isOfAccount =
      !contract.session && contract.scope !== 'open' && contract.scope !== 'operator'
    return isOfAccount && !['GET', 'DELETE'].includes(method) && !storesMore(contract)
  })
  expect([...new Set(others.map(({ id }) => id))].sort()).toEqual(WITHOUT_STORAGE)
})

describe.each(routes)('$method $path', (route) => {
  let fixture: Fixture
  beforeAll(async () => {
    fixture = await makeFixture(route)
  })
  afterAll(clearDatabases)
  for (const check of [
    checkAuthentication,
    checkBoundTokens,
    checkPaths,
    checkBodies,
    checkNulls,
    checkReplies,
  ])
    check(route, () => fixture)
})

test('no statement of all these requests scans a table that grows', async () => {
  expect(statements().length).toBeGreaterThan(150)
  expect(await scansOf(statements())).toEqual([])
  expect(objectScans()).toEqual([])
})
