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

/** The same database; statements that match fail as they do when the network fails. */
export const failStatements = (db: D1Database, pattern: RegExp): D1Database =>
  watchStatements(db, (sql) => {
    if (pattern.test(sql)) throw new Error('D1_ERROR: Network connection lost.')
  })

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
  await waitOnExecutionContext(context)
  return readReply(response)
}
