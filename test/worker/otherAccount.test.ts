import { beforeAll, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../support/accounts.ts'
import { createBoundUser } from '../support/users.ts'
import { recordObjectScans, recordStatements, scansOf } from './db/scans.ts'
import { authorization } from './everyRoute/fixture.ts'
import { fillPath, parametersOf, routes } from './everyRoute/routes.ts'
import { SAMPLES } from './everyRoute/samples.ts'
import { send } from './everyRoute/send.ts'

/* The quick form of everyRoute.test.ts, in `npm run check`: what another account must not see. */

vi.spyOn(console, 'log').mockImplementation(() => {})
const statements = recordStatements()
const objectScans = await recordObjectScans()

const ofAccounts = routes.filter(({ contract }) => contract.scope !== 'operator')
const withIds = ofAccounts.filter(({ path }) => parametersOf(path).length > 0)
const lists = ofAccounts.filter(
  ({ id, method, path, contract }) =>
    method === 'GET' &&
    contract.scope !== 'open' &&
    parametersOf(path).length === 0 &&
    !SAMPLES[id]?.person,
)

/** Its own token, and that of one of its users for the routes that need one. */
const openWithUser = async () => {
  const account = await openAccount({ licenses: 1000 })
  const { token } = await createBoundUser(account, { privileges: ['admin'] })
  return { account, user: { ...account, token } }
}

let mine: { account: TestAccount; user: TestAccount }
const callerFor = (id: string, { account, user } = mine) => (SAMPLES[id]?.user ? user : account)
/** What each operation's sample made in each account. */
const made = new Map<string, { own: Record<string, string>; others: Record<string, string> }>()

beforeAll(async () => {
  mine = await openWithUser()
  const other = await openWithUser()
  for (const { id } of withIds) {
    const params = SAMPLES[id]?.params
    if (!params) throw new Error(`${id} has no parameters in everyRoute/samples.ts`)
    const own = await params(callerFor(id))
    made.set(id, { own, others: await params(callerFor(id, other)) })
  }
}, 60_000)

test.each(withIds)("$method $path does not find another account's id", async (route) => {
  const { own, others } = made.get(route.id) ?? { own: {}, others: {} }
  const body = await SAMPLES[route.id]?.body?.(callerFor(route.id), own)
  for (const name of parametersOf(route.path)) {
    const reply = await send({
      method: route.method,
      path:
        fillPath(route.path, { ...own, [name]: others[name] ?? '' }) +
        (SAMPLES[route.id]?.query ?? ''),
      headers: { ...authorization(route, callerFor(route.id)), 'Content-Type': 'application/json' },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    expect([reply.status, reply.body?.code], name).toEqual([
      404,
      `${name.replace(/Id$/, '')}-not-found`,
    ])
  }
})

test.each(lists)('$method $path shows nothing of another account', async (route) => {
  const headers = authorization(route, callerFor(route.id))
  const path = route.path + (SAMPLES[route.id]?.query ?? '')
  const reply = await send({ method: 'GET', path, headers })
  expect(reply.status).toBe(200)
  for (const { others } of made.values())
    for (const id of Object.values(others)) expect(reply.text).not.toContain(id)
})

test('no statement of all these requests scans a table that grows', async () => {
  expect(statements().length).toBeGreaterThan(100)
  expect(await scansOf(statements())).toEqual([])
  expect(objectScans()).toEqual([])
})
