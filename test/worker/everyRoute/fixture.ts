import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { createSignInUser, signIn } from '../../support/sessions.ts'
import { eventually } from '../../support/time.ts'
import { createBoundUser } from '../../support/users.ts'
import { fillPath, parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'
import type { Sent } from './send.ts'

export type Request = Sent & { headers: Record<string, string> }

/** Two accounts of the route's own, and the request that its sample makes. */
export interface Fixture {
  mine: TestAccount
  other: TestAccount
  /** The user of the token of `mine`, where the route needs one. */
  userId?: string
  /** A new request that succeeds. The path has ids of resources of `idsOf`. */
  request: (idsOf?: TestAccount) => Promise<Request>
}

/** The token that the route needs, of this account or the operator's. */
export const authorization = ({ contract }: Route, mine: TestAccount): Record<string, string> => {
  if (contract.scope === 'open') return {}
  return { Authorization: `Bearer ${contract.scope === 'operator' ? env.ADMIN_TOKEN : mine.token}` }
}

/** The same request with some headers changed; null removes one. */
export const withHeaders = (sent: Request, changed: Record<string, string | null>): Request => ({
  ...sent,
  headers: Object.fromEntries(
    Object.entries({ ...sent.headers, ...changed }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  ),
})

const createAdministrator = (account: TestAccount) =>
  createSignInUser(account, { privileges: ['admin'] })

export const makeFixture = async (route: Route): Promise<Fixture> => {
  const sample = SAMPLES[route.id]
  if (!sample) throw new Error(`${route.id} has no row in everyRoute/samples.ts`)
  const open = async () => {
    const account = await openAccount({ licenses: 1000 })
    if (sample.person) {
      const { token } = await signIn(account, await createAdministrator(account))
      return { account: { ...account, token } }
    }
    if (!sample.user) return { account }
    const { id: userId, token } = await createBoundUser(account, { privileges: ['admin'] })
    return { account: { ...account, token }, userId }
  }
  const { account: mine, userId } = await open()
  const other = parametersOf(route.path).length > 0 ? (await open()).account : mine

  const request: Fixture['request'] = async (idsOf = mine) => {
    const params = parametersOf(route.path).length > 0 ? ((await sample.params?.(idsOf)) ?? {}) : {}
    const body = await sample.body?.(mine, params)
    return {
      method: route.method,
      path: fillPath(route.path, params) + (sample.query ?? ''),
      headers: {
        ...authorization(route, mine),
        ...(await sample.headers?.(mine)),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
  }
  return { mine, other, request, ...(userId && { userId }) }
}

const tablesOf = async (db: D1Database): Promise<string[]> => {
  const { results } = await db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all<{ name: string }>()
  return results.map(({ name }) => name).filter((name) => !/^(sqlite_|d1_|_cf_)/.test(name))
}

/** Messages are sent after the reply: waits until none is queued. */
const waitForMessages = () =>
  eventually(async () => {
    expect(
      await env.DB.prepare(`SELECT id FROM messages WHERE status = 'queued'`).first(),
    ).toBeNull()
  })

/** Empties both cells, so that `storedRows` stays fast for the next route. */
export const clearDatabases = async (): Promise<void> => {
  // Rows of an account that has moved cannot be written while its move is known.
  const tables = ['moved_accounts', ...(await tablesOf(env.DB))]
  await Promise.all(
    [env.DB, env.CELL_1].map((db) =>
      db.batch(tables.map((table) => db.prepare(`DELETE FROM "${table}"`))),
    ),
  )
}

/** What the audit counts of sign-ins and networks after a reply, refused or not. */
const isOfSignIn = ({ of, action }: Record<string, unknown>): boolean =>
  of === 'key_networks' || (of === 'audit' && /^key\.(signedIn|used)|^signIn/.test(String(action)))

/** All rows of both cells, without `last_used`. A refused request must not change them. */
export const storedRows = async (): Promise<string> => {
  await waitForMessages()
  const tables = await tablesOf(env.DB)
  const dumps = await Promise.all(
    [env.DB, env.CELL_1].map((db) =>
      db.batch(tables.map((table) => db.prepare(`SELECT '${table}' AS of, * FROM "${table}"`))),
    ),
  )
  return JSON.stringify(
    dumps.map((dump) =>
      dump.map(({ results }) =>
        (results as Record<string, unknown>[]).filter((row) => !isOfSignIn(row)),
      ),
    ),
    (name, value) => (name === 'last_used' ? undefined : value),
  )
}
