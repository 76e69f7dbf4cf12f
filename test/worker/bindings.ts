import { createExecutionContext, waitOnExecutionContext } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { app } from '../../src/app.ts'
import type { Env } from '../../src/env.ts'
import { type Call, ORIGIN, type Reply } from './support.ts'

/** The same database, with a look at each statement before it is prepared. */
export const watched = (db: D1Database, look: (sql: string) => void): D1Database =>
  new Proxy(db, {
    get(target, name) {
      const member = Reflect.get(target, name)
      if (typeof member !== 'function') return member
      if (name !== 'prepare') return member.bind(target)
      return (sql: string) => {
        look(sql)
        return target.prepare(sql)
      }
    },
  })

/** The same database, but that the statements named fail as they do when the network does. */
export const failing = (db: D1Database, broken: RegExp): D1Database =>
  watched(db, (sql) => {
    if (broken.test(sql)) throw new Error('D1_ERROR: Network connection lost.')
  })

/** A request to the app with some bindings exchanged. What it does after its answer is waited for. */
export const callWith = async (
  changed: Partial<Env>,
  method: string,
  path: string,
  { token, body, headers = {} }: Call = {},
): Promise<Reply> => {
  const context = createExecutionContext()
  const sent = {
    method,
    headers: {
      ...(token !== undefined && { Authorization: `Bearer ${token}` }),
      ...(body !== undefined && { 'Content-Type': 'application/json' }),
      ...headers,
    },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  }
  const response = await app.request(`${ORIGIN}${path}`, sent, { ...env, ...changed }, context)
  await waitOnExecutionContext(context)
  const text = await response.text()
  return {
    status: response.status,
    headers: response.headers,
    text,
    body: text.startsWith('{') ? JSON.parse(text) : null,
  }
}
