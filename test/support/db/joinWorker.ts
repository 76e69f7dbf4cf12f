// The Worker with a database whose calls a test records, stops and fails, and with a clock that the
// test moves. Requests to /join/… call a joining client; all others go to the Worker itself.

import { joiningClient } from '../../../src/db/join.ts'
import { type Database, withJoining } from '../../../src/db/open.ts'
import type { Env } from '../../../src/env.ts'
import worker, { AccountFeed, AccountLedger } from '../../../src/worker.ts'

export { AccountFeed, AccountLedger }

/** What happens to the calls with a statement that has this bound value. */
export interface Rule {
  value: string | number
  /** The call is sent to D1 only when this gate is open. */
  gate?: string
  /** It fails with this message: before it reaches D1, or `afterStoring`. */
  error?: string
  afterStoring?: boolean
  /** How often the rule applies; without it, always. */
  times?: number
}

/** A call to D1, in the order in which they were sent. */
export interface RecordedCall {
  values: unknown[][]
  state: 'under way' | 'done' | 'failed'
}

/** One call of a request: a batch, or one statement in one of its four forms. */
export interface CallBody {
  form: 'batch' | 'all' | 'run' | 'first' | 'raw'
  statements: { text: string; values: unknown[] }[]
  retries?: boolean
}

interface State {
  calls: RecordedCall[]
  rules: Rule[]
  openGates: Set<string>
  timers: Map<number, number>
  /** How many clients have disconnected. */
  left: number
  joining?: D1Database
  retrying?: D1Database
}

const emptyState = (): State => ({
  calls: [],
  rules: [],
  openGates: new Set(),
  timers: new Map(),
  left: 0,
})
let state = emptyState()

/** Stopped until the test moves it; null: the time of the machine. */
let now: number | null = null
const [machineNow, machineTimeout] = [Date.now, setTimeout]
Date.now = () => now ?? machineNow()

let lastTimer = 0
/** Asks for the time again and again: a timer must belong to the request that set it. */
const setTimer = (callback: () => void, ms = 0): number => {
  const [id, { timers }, dueAt] = [++lastTimer, state, Date.now() + ms]
  timers.set(id, ms)
  const ask = () => {
    if (!timers.has(id)) return
    if (Date.now() < dueAt) return void machineTimeout(ask, 1)
    timers.delete(id)
    callback()
  }
  machineTimeout(ask, now === null ? ms : 1)
  return id
}
Object.assign(globalThis, {
  setTimeout: setTimer,
  clearTimeout: (id: number) => state.timers.delete(id),
})

const takeRule = ({ values }: RecordedCall): Rule | undefined => {
  const rule = state.rules.find(
    ({ value, times }) => times !== 0 && values.some((bound) => bound.includes(value)),
  )
  if (rule?.times) rule.times--
  return rule
}

/** Of a client that a test has begun, and whose calls end with it. */
type GetState = () => State

const pass = async <T>(own: State, values: unknown[][], send: () => Promise<T>): Promise<T> => {
  const call: RecordedCall = { values, state: 'under way' }
  own.calls.push(call)
  const { gate, error, afterStoring } = takeRule(call) ?? {}
  try {
    while (gate && own === state && !own.openGates.has(gate)) await scheduler.wait(1)
    if (own !== state) throw new Error('the test has ended')
    if (error && !afterStoring) throw new Error(error)
    const results = await send()
    if (error) throw new Error(error)
    call.state = 'done'
    return results
  } catch (failure) {
    call.state = 'failed'
    throw failure
  }
}

class RecordedStatement {
  readonly getState: GetState
  readonly plain: D1PreparedStatement
  readonly values: unknown[]

  constructor(getState: GetState, plain: D1PreparedStatement, values: unknown[] = []) {
    this.getState = getState
    this.plain = plain
    this.values = values
  }

  bind(...values: unknown[]): RecordedStatement {
    return new RecordedStatement(this.getState, this.plain.bind(...values), values)
  }

  all(): Promise<D1Result> {
    return pass(this.getState(), [this.values], () => this.plain.all())
  }

  run(): Promise<D1Result> {
    return pass(this.getState(), [this.values], () => this.plain.run())
  }

  first(): Promise<unknown> {
    return pass(this.getState(), [this.values], () => this.plain.first())
  }

  raw(): Promise<unknown[][]> {
    return pass(this.getState(), [this.values], () => this.plain.raw())
  }
}

const recordingClient = (client: D1Database, getState: GetState): D1Database => {
  const recording = {
    prepare: (text: string) => new RecordedStatement(getState, client.prepare(text)),
    batch: (statements: RecordedStatement[]) =>
      pass(
        getState(),
        statements.map(({ values }) => values),
        () => client.batch(statements.map(({ plain }) => plain)),
      ),
  }
  return recording as unknown as D1Database
}

const runCall = async (client: D1Database, { form, statements }: CallBody): Promise<unknown> => {
  const bound = statements.map(({ text, values }) => client.prepare(text).bind(...values))
  if (form === 'batch') return (await client.batch(bound)).map(({ results }) => results)
  const [statement] = bound as unknown as [Record<typeof form, () => Promise<unknown>>]
  const result = await statement[form]()
  return form === 'all' || form === 'run' ? (result as D1Result).results : result
}

/** The requests of the test itself. None of them calls D1. */
const control = async (action: string, request: Request, database: D1Database) => {
  if (action === 'begin') {
    state.timers.clear()
    state = emptyState()
    const own = state
    const client = recordingClient(database, () => own)
    own.joining = joiningClient(client)
    own.retrying = withJoining({ $client: client } as Database).$client
    now = machineNow()
  } else if (action === 'rule') state.rules.push(await request.json<Rule>())
  else if (action === 'open') state.openGates.add(await request.json<string>())
  else if (action === 'advance') now = Date.now() + (await request.json<number>())
  else if (action === 'start') now = null
  const waiting = [...state.timers.values()].filter((ms) => ms <= 4).length
  return Response.json({ calls: state.calls, waiting, left: state.left })
}

let recordedEnv: Env | undefined

export default {
  async fetch(request, env, context) {
    recordedEnv ??= { ...env, DB: recordingClient(env.DB, () => state) }
    const action = /^\/join\/(\w+)$/.exec(new URL(request.url).pathname)?.[1]
    if (!action) return worker.fetch(request, recordedEnv, context)
    if (action !== 'call') return control(action, request, env.DB)
    request.signal.addEventListener('abort', () => {
      state.left++
    })
    const body = await request.json<CallBody>()
    try {
      const client = (body.retries ? state.retrying : state.joining) as D1Database
      return Response.json({ results: await runCall(client, body) })
    } catch (error) {
      return Response.json({ error: String(error) })
    }
  },
} satisfies ExportedHandler<Env>
