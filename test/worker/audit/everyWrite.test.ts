import { env } from 'cloudflare:workers'
import { beforeAll, describe, expect, test, vi } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { rowsOfRequests } from '../../support/db/audit.ts'
import { createSignInUser, signIn } from '../../support/sessions.ts'
import { eventually } from '../../support/time.ts'
import { readToken } from '../../support/tokens.ts'
import { createBoundUser } from '../../support/users.ts'
import { fillPath, parametersOf, type Route, routes } from '../everyRoute/routes.ts'
import { SAMPLES, type Sample } from '../everyRoute/samples.ts'
import { send } from '../everyRoute/send.ts'

vi.spyOn(console, 'log').mockImplementation(() => {})

/** Operations that are no reads by their method and yet leave no entry. */
const WITHOUT_ENTRY: Record<string, string> = {
  decodePayload: 'It stores nothing.',
  testRule: 'It stores nothing.',
  showWatchLink: 'It only shows the link again.',
  refresh: 'The session goes on: its start and its end have entries.',
  postLocations: 'A report costs no row of the audit.',
  reportLocations: 'A report costs no row of the audit.',
  importAccount: 'The sample is refused. An import has its entry, see archive.test.ts.',
  keepSandbox: 'The sample is refused. Keeping one has its entry, see sandbox/own.test.ts.',
  restoreLedger: 'A local server has no history to restore, and refuses it.',
}

/** Reads that leave an entry: exports. `track.exported` is of a format, see actions.test.ts. */
const READS_WITH_ENTRY = ['exportZones']

/** Requests of `SAMPLES` that would change nothing. */
const CHANGED: Record<string, Sample['body']> = {
  releaseQuarantine: async (owner, params) => ({ ids: await quarantined(owner, params) }),
  discardQuarantine: async (owner, params) => ({ ids: await quarantined(owner, params) }),
  requestReset: async (owner) => {
    const { email } = await createSignInUser(owner)
    return { account: owner.userName, email }
  },
}

const quarantined = async (owner: TestAccount, { deviceId }: Record<string, string>) => {
  const { body } = await owner.call('GET', `/api/devices/${deviceId}/quarantine`)
  return body.quarantine.map(({ id }: { id: string }) => id)
}

/** Who acts without a token. */
const ACTORS: Record<string, string> = {
  getToken: 'key',
  signIn: 'user',
  signOut: 'user',
  setPassword: 'user',
  decideConsent: 'user',
  requestReset: 'system',
}

const ADDRESS = '203.0.113.7'
let mine: TestAccount
let user: TestAccount
let person: TestAccount

const keyIdOf = (token: string): string => String(readToken(token).claims.key ?? '')

/** Sends the sample of a route and returns the id of the request. */
const sendSample = async (route: Route) => {
  const sample = SAMPLES[route.id] ?? {}
  const ofUser = sample.person ? person : user
  const caller = sample.user || sample.person ? ofUser : mine
  const params = parametersOf(route.path).length > 0 ? ((await sample.params?.(caller)) ?? {}) : {}
  const body = await (CHANGED[route.id] ?? sample.body)?.(caller, params)
  const token = route.contract.scope === 'operator' ? env.ADMIN_TOKEN : caller.token
  const reply = await send({
    method: route.method,
    path: fillPath(route.path, params) + (sample.query ?? ''),
    headers: {
      'CF-Connecting-IP': ADDRESS,
      ...(route.contract.scope !== 'open' && { Authorization: `Bearer ${token}` }),
      ...(await sample.headers?.(caller)),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  })
  if (!sample.refused) expect(reply.status, reply.text).toBeLessThan(400)
  return { requestId: reply.headers.get('X-Request-Id') ?? '', token: token ?? '' }
}

beforeAll(async () => {
  mine = await openAccount({ licenses: 1000 })
  const { token } = await createBoundUser(mine, { privileges: ['admin'] })
  user = { ...mine, token }
  const signedIn = await signIn(mine, await createSignInUser(mine))
  person = { ...mine, token: signedIn.token }
  // The first use of a key from a network has an entry of its own.
  for (const { token } of [mine, user])
    await mine.call('GET', '/api/me', { token, headers: { 'CF-Connecting-IP': ADDRESS } })
})

/** One route of each operation: the sign-ins of an hour have one entry. */
const operations = [...new Map(routes.map((route) => [route.id, route])).values()]
const isWrite = ({ method, id }: Route) => method !== 'GET' && !(id in WITHOUT_ENTRY)
const writes = operations.filter(isWrite)
const others = operations.filter((route) => !isWrite(route))

test('the listed operations exist', () => {
  const ids = new Set(routes.map(({ id }) => id))
  for (const id of [...Object.keys(WITHOUT_ENTRY), ...READS_WITH_ENTRY, ...Object.keys(CHANGED)])
    expect(ids).toContain(id)
})

describe('every operation that writes leaves an entry', () => {
  test.each(writes)('$id ($method $path)', async (route) => {
    const { requestId, token } = await sendSample(route)
    const rows = await eventually(async () => {
      const found = await rowsOfRequests([requestId])
      expect(found).not.toEqual([])
      return found
    })
    const { scope } = route.contract
    for (const row of rows) {
      expect(row).toMatchObject({ request_id: requestId, address: ADDRESS })
      expect(row.action).toMatch(/^[a-zA-Z]+\.[a-zA-Z]+$/)
      expect(row.resource_type).not.toBe('')
      expect(row.resource_id).not.toBe('')
      expect(row.actor_id).not.toBe('')
      if (ACTORS[route.id]) expect(row.actor_type).toBe(ACTORS[route.id])
      else if (scope === 'operator') expect(row.actor_type).toBe('operator')
      else expect([row.actor_type, row.actor_id]).toEqual(['key', keyIdOf(token)])
      if (scope !== 'operator' && route.id !== 'openSandbox') expect(row.account_id).toBe(mine.id)
    }
    // That of a sandbox has what is in it.
    if (scope !== 'operator') expect(rows.map((row) => row.account_id)).toContain(mine.id)
  })
})

test('reads and reports leave none, except exports', async () => {
  const requests: Record<string, string> = {}
  for (const route of others) {
    const { requestId } = await sendSample(route)
    if (!READS_WITH_ENTRY.includes(route.id)) requests[requestId] = route.id
  }
  // What is written after a reply is written by then.
  await mine.call('POST', '/api/groups', { body: { name: 'Last' } })
  const rows = await rowsOfRequests(Object.keys(requests))
  expect(rows.map((row) => [requests[row.request_id], row.action])).toEqual([])
})
