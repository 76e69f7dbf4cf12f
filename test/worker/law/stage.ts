import { env } from 'cloudflare:workers'
import { expect } from 'vitest'
import { openAccount, type TestAccount } from '../../support/accounts.ts'
import { eventually } from '../../support/time.ts'
import type { Sent } from './reply.ts'
import { fill, parametersOf, type Route } from './routes.ts'
import { SAMPLES } from './samples.ts'

export type Request = Sent & { headers: Record<string, string> }

/** What a route is tried on: two accounts of its own, and the request that its sample makes. */
export interface Stage {
  mine: TestAccount
  other: TestAccount
  /** A request that succeeds, made anew. `idsOf`: whose things the path names. */
  request: (idsOf?: TestAccount) => Promise<Request>
}

const authorization = ({ contract }: Route, mine: TestAccount): Record<string, string> => {
  if (contract.scope === 'open') return {}
  return { Authorization: `Bearer ${contract.scope === 'operator' ? env.ADMIN_TOKEN : mine.token}` }
}

/** The same request with some headers changed; null takes one away. */
export const withHeaders = (sent: Request, changed: Record<string, string | null>): Request => ({
  ...sent,
  headers: Object.fromEntries(
    Object.entries({ ...sent.headers, ...changed }).filter(
      (entry): entry is [string, string] => entry[1] !== null,
    ),
  ),
})

export const setStage = async (route: Route): Promise<Stage> => {
  const sample = SAMPLES[route.id]
  if (!sample) throw new Error(`${route.id} has no row in test/worker/law/samples.ts`)
  const mine = await openAccount({ licenses: 1000 })
  const other = parametersOf(route.path).length > 0 ? await openAccount({ licenses: 1000 }) : mine

  const request: Stage['request'] = async (idsOf = mine) => {
    const params = parametersOf(route.path).length > 0 ? ((await sample.params?.(idsOf)) ?? {}) : {}
    const body = sample.body?.(mine, params)
    return {
      method: route.method,
      path: fill(route.path, params) + (sample.query ?? ''),
      headers: {
        ...authorization(route, mine),
        ...(body !== undefined && { 'Content-Type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    }
  }
  return { mine, other, request }
}

const tablesOf = async (db: D1Database): Promise<string[]> => {
  const { results } = await db
    .prepare(`SELECT name FROM sqlite_schema WHERE type = 'table'`)
    .all<{ name: string }>()
  return results.map(({ name }) => name).filter((name) => !/^(sqlite_|d1_|_cf_)/.test(name))
}

/** Messages go out after the reply: rows are counted once none is on its way. */
const settled = () =>
  eventually(async () => {
    expect(
      await env.DB.prepare(`SELECT id FROM messages WHERE status = 'queued'`).first(),
    ).toBeNull()
  })

/** Leaves both cells empty, so that the next route's look at them is short. */
export const strikeStage = async (): Promise<void> => {
  const tables = await tablesOf(env.DB)
  await Promise.all(
    [env.DB, env.CELL_1].map((db) =>
      db.batch(tables.map((table) => db.prepare(`DELETE FROM "${table}"`))),
    ),
  )
}

/** Every row of both cells, but for the minute of a key's last use: what a refused request must leave as it was. */
export const storedRows = async (): Promise<string> => {
  await settled()
  const tables = await tablesOf(env.DB)
  const dumps = await Promise.all(
    [env.DB, env.CELL_1].map((db) =>
      db.batch(tables.map((table) => db.prepare(`SELECT '${table}' AS of, * FROM "${table}"`))),
    ),
  )
  return JSON.stringify(
    dumps.map((dump) => dump.map(({ results }) => results)),
    (name, value) => (name === 'last_used' ? undefined : value),
  )
}
