// The Worker with a fail point before and after every commit to a database and every outgoing
// request, for `npm run chaos`. wrangler.toml does not name this file, so no deploy contains it.

import type { Env } from '../../src/env.ts'
import worker, { AccountFeed as Feed, AccountLedger as Ledger } from '../../src/worker.ts'

interface ChaosEnv extends Env {
  /** The address that fail points report to. It answers, or kills the process. */
  FAIL_POINTS: string
}

interface Statement {
  statement: string
  /** What is bound to it. */
  params: unknown[]
}

const originalFetch = globalThis.fetch

/**
 * In a Durable Object the output gate holds this request until everything written so far is on
 * disk.
 */
const reachFailPoint = async (env: ChaosEnv, point: string): Promise<void> => {
  await originalFetch(`${env.FAIL_POINTS}/${encodeURIComponent(point)}`)
}

const isWrite = ({ statement }: Statement): boolean => !/^\s*SELECT\b/i.test(statement)

const STORES_REPORT = /^\s*INSERT INTO\s+["`]?locations\b/i

/** Whether it stores reports of several accounts, which only joined calls do. */
const isJoined = (statements: Statement[]): boolean => {
  const reports = statements.filter(({ statement }) => STORES_REPORT.test(statement))
  const bound = reports.flatMap(({ params }) => params)
  return new Set(bound.filter((value) => String(value).startsWith('acc_'))).size > 1
}

/** The state or step of a move that a statement writes. */
const WRITES_STEP =
  /^update\s+["`](moves|moved_accounts)["`]\s+set\s+["`](step|state)["`]\s*=\s*\?/i

/**
 * The name of a commit: the verb and table of its first writing statement, as `INSERT INTO events`,
 * with the step of a move, as `UPDATE moves to done`, or `a joined commit`.
 */
const nameCommit = (statements: Statement[]): string => {
  if (isJoined(statements)) return 'a joined commit'
  const { statement: first = '', params = [] } = statements.find(isWrite) ?? {}
  const [, verb, table] =
    /^\s*(INSERT(?: OR \w+)? INTO|UPDATE|DELETE FROM)\s+["`]?(\w+)/i.exec(first) ?? []
  const step = WRITES_STEP.test(first) ? ` to ${params[0]}` : ''
  return verb ? `${verb.toUpperCase()} ${table}${step}` : first.trim().slice(0, 40)
}

const withFailPoints = async <T>(
  env: ChaosEnv,
  statements: Statement[],
  commit: () => Promise<T>,
): Promise<T> => {
  if (!statements.some(isWrite)) return commit()
  const name = nameCommit(statements)
  await reachFailPoint(env, `before ${name}`)
  const outcome = await commit()
  await reachFailPoint(env, `after ${name}`)
  return outcome
}

let isInstalled = false

/**
 * Replaces methods of the prototypes that all D1 bindings share, so every statement of the process
 * passes here.
 */
const installFailPoints = (env: ChaosEnv): void => {
  if (isInstalled) return
  isInstalled = true
  const database = Object.getPrototypeOf(env.DB)
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1'))
  const { batch } = database
  database.batch = function (this: D1Database, statements: (D1PreparedStatement & Statement)[]) {
    return withFailPoints(env, statements, () => batch.call(this, statements))
  }
  for (const method of ['run', 'all', 'first', 'raw'] as const) {
    const original = statement[method]
    statement[method] = function (this: Statement, ...args: unknown[]) {
      return withFailPoints(env, [this], () => original.apply(this, args))
    }
  }
  globalThis.fetch = async (input: RequestInfo | URL, init?: RequestInit) => {
    const { host } = new URL(input instanceof Request ? input.url : input)
    await reachFailPoint(env, `before a request to ${host}`)
    const response = await originalFetch(input, init)
    await reachFailPoint(env, `after a request to ${host}`)
    return response
  }
}

export class AccountLedger extends Ledger {
  constructor(state: DurableObjectState, env: ChaosEnv) {
    installFailPoints(env)
    super(state, env)
  }
}

export class AccountFeed extends Feed {
  constructor(state: DurableObjectState, env: ChaosEnv) {
    installFailPoints(env)
    super(state, env)
  }
}

/** Lets a killed run's lease end at once, and also the minute for which a move keeps old rows. */
const settleMoves = async (env: ChaosEnv, what: string): Promise<Response> => {
  const position = what === 'grace' ? `json_set(position, '$.switchedAt', 1)` : 'position'
  await env.DB.prepare(`UPDATE moves SET leased_until = 0, position = ${position}`).run()
  return new Response(null, { status: 204 })
}

export default {
  async fetch(request, env, context) {
    installFailPoints(env)
    const [, moves] = /^\/chaos\/moves\/(\w+)$/.exec(new URL(request.url).pathname) ?? []
    if (moves) return settleMoves(env, moves)
    const response = await worker.fetch(request, env, context)
    if (request.method !== 'GET') await reachFailPoint(env, 'before the reply')
    return response
  },
  scheduled(controller, env, context) {
    installFailPoints(env)
    return worker.scheduled(controller, env, context)
  },
} satisfies ExportedHandler<ChaosEnv>
