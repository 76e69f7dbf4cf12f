import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
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

/**
 * Sends a request to the app with some bindings replaced, and waits for its work after the reply.
 */
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
