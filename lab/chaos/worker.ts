// The Worker with a fail point before and after every commit to a database and every request that leaves it, for
// `npm run chaos` alone: wrangler.toml does not know of this file, so nothing of it is in what is deployed.

import type { Env } from '../../src/env.ts'
import worker, { AccountFeed as Feed, AccountLedger as Ledger } from '../../src/worker.ts'

interface ChaosEnv extends Env {
  /** Where the fail points report; whoever listens there answers, or kills the process. */
  FAIL_POINTS: string
}

interface Statement {
  statement: string
}

const outgoing = globalThis.fetch

/** From inside a Durable Object this goes out only once everything written so far is on disk: its output gate sees to that. */
const reach = async (env: ChaosEnv, point: string): Promise<void> => {
  await outgoing(`${env.FAIL_POINTS}/${encodeURIComponent(point)}`)
}

const writes = (sql: string): boolean => !/^\s*SELECT\b/i.test(sql)

/** What a commit is called: its first writing statement, as far as the table. */
const nameOf = (statements: string[]): string => {
  const first = statements.find(writes) ?? ''
  return (
    /^\s*(INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+["`]?(\w+)/i
      .exec(first)
      ?.slice(1)
      .join(' ') ?? first.trim().slice(0, 40)
  )
}

const around = async <T>(
  env: ChaosEnv,
  statements: string[],
  commit: () => Promise<T>,
): Promise<T> => {
  if (!statements.some(writes)) return commit()
  const name = nameOf(statements)
  await reach(env, `before ${name}`)
  const outcome = await commit()
  await reach(env, `after ${name}`)
  return outcome
}

let armed = false

/** D1 bindings share their two prototypes, so that every statement in the process passes here. */
const arm = (env: ChaosEnv): void => {
  if (armed) return
  armed = true
  const database = Object.getPrototypeOf(env.DB)
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1'))
  const { batch } = database
  database.batch = function (this: D1Database, statements: (D1PreparedStatement & Statement)[]) {
    return around(
      env,
      statements.map(({ statement }) => statement),
      () => batch.call(this, statements),
    )
  }
  for (const method of ['run', 'all', 'first', 'raw'] as const) {
    const original = statement[method]
    statement[method] = function (this: Statement, ...args: unknown[]) {
      return around(env, [this.statement], () => original.apply(this, args))
    }
  }
  globalThis.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const { host } = new URL(input instanceof Request ? input.url : input)
    await reach(env, `before a request to ${host}`)
    const response = await outgoing(input, init)
    await reach(env, `after a request to ${host}`)
    return response
  }
}

export class AccountLedger extends Ledger {
  constructor(state: DurableObjectState, env: ChaosEnv) {
    arm(env)
    super(state, env)
  }
}

export class AccountFeed extends Feed {
  constructor(state: DurableObjectState, env: ChaosEnv) {
    arm(env)
    super(state, env)
  }
}

export default {
  async fetch(request, env, context) {
    arm(env)
    const response = await worker.fetch(request, env, context)
    if (request.method !== 'GET') await reach(env, 'before the answer')
    return response
  },
  scheduled(controller, env, context) {
    arm(env)
    return worker.scheduled(controller, env, context)
  },
} satisfies ExportedHandler<ChaosEnv>
