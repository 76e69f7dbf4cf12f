import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app, serve } from '../../src/app.ts'
import type { Env } from '../../src/env.ts'
import { type Call, ORIGIN, type Reply, readReply, requestOf } from './http.ts'

/** The same database; `inspect` sees each statement's text before it is prepared. */
export const watchStatements = (db: D1Database, inspect: (sql: string) => void): D1Database =>
  new Proxy(db, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'prepare') return member.bind(target)
      return (sql: string) => {
        inspect(sql)
        return target.prepare(sql)
      }
    },
  })

/** The same database; `inspect` sees the results of each batch. */
export const watchBatches = (db: D1Database, inspect: (results: D1Result[]) => void): D1Database =>
  new Proxy(db, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'batch') return member.bind(target)
      return async (statements: D1PreparedStatement[]) => {
        const results = await target.batch(statements)
        inspect(results)
        return results
      }
    },
  })

/** The same database; `inspect` sees the results of all batches and of statements by themselves. */
export const watchResults = (
  db: D1Database,
  inspect: (results: D1Result[]) => void,
): D1Database => {
  const plain = new WeakMap<object, D1PreparedStatement>()
  const wrap = (statement: D1PreparedStatement): D1PreparedStatement => {
    const wrapped = new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name)
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values))
        if (name !== 'all') return typeof member === 'function' ? member.bind(target) : member
        return async () => {
          const result = await target.all()
          inspect([result])
          return result
        }
      },
    })
    plain.set(wrapped, statement)
    return wrapped
  }
  const batch = async (statements: D1PreparedStatement[]) => {
    const results = await db.batch(statements.map((one) => plain.get(one) ?? one))
    inspect(results)
    return results
  }
  return { prepare: (text: string) => wrap(db.prepare(text)), batch } as unknown as D1Database
}

/** The same database; statements that match fail as they do when the network fails. */
export const failStatements = (db: D1Database, pattern: RegExp): D1Database =>
  watchStatements(db, (sql) => {
    if (pattern.test(sql)) throw new Error('D1_ERROR: Network connection lost.')
  })

interface Failures {
  /** Which statements fail. */
  pattern: RegExp
  times: number
  error?: Error
  /** Whether a batch fails only after it was committed. */
  isCommitted?: boolean
}

export const connectionLost = () => new Error('D1_ERROR: Network connection lost.')

/** The same database; statements that match fail this many times when they are run. */
export const failExecutions = (
  db: D1Database,
  { pattern, times, error = connectionLost(), isCommitted = false }: Failures,
): { db: D1Database; runs: () => number } => {
  const texts = new WeakMap<object, string>()
  const plain = new WeakMap<object, D1PreparedStatement>()
  let runs = 0
  const isFailing = (statements: object[]): boolean => {
    if (!statements.some((statement) => pattern.test(texts.get(statement) ?? ''))) return false
    return ++runs <= times
  }
  const wrap = (statement: D1PreparedStatement, text: string): D1PreparedStatement => {
    const wrapped: D1PreparedStatement = new Proxy(statement, {
      get(target, name) {
        const member = Reflect.get(target, name) as (...values: unknown[]) => unknown
        if (typeof member !== 'function') return member
        if (name === 'bind') return (...values: unknown[]) => wrap(target.bind(...values), text)
        // What our own code keeps with a statement is under symbols.
        if (typeof name === 'symbol' || typeof member !== 'function') return member
        return async (...values: unknown[]) => {
          if (isFailing([wrapped])) throw error
          return member.apply(target, values)
        }
      },
    })
    texts.set(wrapped, text)
    plain.set(wrapped, statement)
    return wrapped
  }
  const batch = async (statements: D1PreparedStatement[]) => {
    const fails = isFailing(statements)
    if (fails && !isCommitted) throw error
    const results = await db.batch(statements.map((one) => plain.get(one) ?? one))
    if (fails) throw error
    return results
  }
  const client = { prepare: (text: string) => wrap(db.prepare(text), text), batch }
  return { db: client as unknown as D1Database, runs: () => runs }
}

/** The same database; batches wait for `gate` before they run. */
export const holdBatches = (db: D1Database, gate: Promise<unknown>): D1Database =>
  new Proxy(db, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'batch') return member.bind(target)
      return async (statements: D1PreparedStatement[]) => {
        await gate
        return target.batch(statements)
      }
    },
  })

/** Sends a request as the platform does, load shedding included, with some bindings replaced. */
export const serveWithBindings = async (
  replaced: Partial<Env>,
  method: string,
  path: string,
  options: Call = {},
): Promise<Reply> => {
  const context = createExecutionContext()
  const init = requestOf(method, options)
  const length = typeof init.body === 'string' ? { 'Content-Length': `${init.body.length}` } : {}
  const headers = { ...init.headers, ...length }
  const request = new Request(`${ORIGIN}${path}`, { ...init, headers })
  return readReply(await serve(request, { ...env, ...replaced }, context))
}

/** Longer than what follows a reply at once takes. The counts of budgets are written later. */
const MAX_WAIT_MS = 3000

/** Sends a request to the app with some bindings replaced, and waits for its work after the reply. */
export const callWithBindings = async (
  replaced: Partial<Env>,
  method: string,
  path: string,
  options: Call = {},
): Promise<Reply> => {
  const context = createExecutionContext()
  const bindings = { ...env, ...replaced }
  const request = requestOf(method, options)
  const response = await app.request(`${ORIGIN}${path}`, request, bindings, context)
  await Promise.race([waitOnExecutionContext(context), scheduler.wait(MAX_WAIT_MS)])
  return readReply(response)
}
