import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { cellBinding, type Env } from '../env.ts'
import { joiningClient } from './join.ts'
import * as schema from './schema.ts'
import { retryingClient } from './transient.ts'

/** One cell. `$client`, its D1 binding or a client that retries or joins, is for `statement.ts`. */
export type Database = DrizzleD1Database<typeof schema> & { $client: D1Database }

const opened = new WeakMap<D1Database, Database>()

export const openCell = (env: Env, cell: number): Database => {
  const binding = cellBinding(env, cell)
  if (!binding) throw new Error(`cell ${cell} is not bound`)
  let database = opened.get(binding)
  if (!database) {
    database = drizzle(binding, { schema })
    opened.set(binding, database)
  }
  return database
}

const retrying = new WeakMap<Database, Database>()

/** The same cell for reads, and for writes that may be made twice: see `retryTransient`. */
export const withRetries = (db: Database): Database => {
  let database = retrying.get(db)
  if (!database) {
    database = drizzle(retryingClient(db.$client), { schema })
    retrying.set(db, database)
  }
  return database
}

const joining = new WeakMap<Database, Database>()

/**
 * The same as `withRetries` for requests: calls that several make at the same time are joined. Not for
 * Durable Objects, whose calls wait for nobody else's.
 */
export const withJoining = (db: Database): Database => {
  let database = joining.get(db)
  if (!database) {
    database = drizzle(retryingClient(joiningClient(db.$client)), { schema })
    joining.set(db, database)
  }
  return database
}

/** Cell 0 also holds the directory of all accounts. */
export const openDirectory = (env: Env): Database => openCell(env, 0)
