import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import type { Writer } from '../domain/admin/audit.ts'
import { cellBinding, type Env } from '../env.ts'
import { joiningClient } from './join.ts'
import * as schema from './schema.ts'
import { countingClient, retryingClient } from './transient.ts'

/**
 * One cell. `$client`, its D1 binding or a client that retries or joins, is for `statement.ts`.
 * `writer` is who writes, for `queries/audit.ts`.
 */
export type Database = DrizzleD1Database<typeof schema> & {
  $client: D1Database
  readonly writer?: Writer
  /** The handle without a writer, of which an isolate has one. */
  readonly shared?: Database
  /** The bucket with the months that are no longer in the cell; undefined without one. */
  readonly history?: R2Bucket | undefined
}

const open = (client: D1Database, history: R2Bucket | undefined): Database =>
  Object.assign(drizzle(client, { schema }), { history })

/** The same cell for writes that the audit records as this writer's. */
export const withWriter = (db: Database, writer: Writer): Database =>
  Object.create(db, { writer: { value: writer }, shared: { value: db.shared ?? db } })

const keepWriter = (db: Database, other: Database): Database =>
  db.writer ? withWriter(other, db.writer) : other

const opened = new WeakMap<D1Database, Database>()

export const openCell = (env: Env, cell: number): Database => {
  const binding = cellBinding(env, cell)
  if (!binding) throw new Error(`cell ${cell} is not bound`)
  let database = opened.get(binding)
  if (!database) {
    database = open(binding, env.HISTORY)
    opened.set(binding, database)
  }
  return database
}

const retrying = new WeakMap<Database, Database>()

/** The same cell for reads, and for writes that may be made twice: see `retryTransient`. */
export const withRetries = (db: Database): Database => {
  const shared = db.shared ?? db
  let database = retrying.get(shared)
  if (!database) {
    database = open(retryingClient(shared.$client), shared.history)
    retrying.set(shared, database)
  }
  return keepWriter(db, database)
}

const joining = new WeakMap<Database, Database>()

/**
 * The same as `withRetries` for requests: calls that several make at the same time are joined. Not for
 * Durable Objects, whose calls wait for nobody else's.
 */
export const withJoining = (db: Database): Database => {
  const shared = db.shared ?? db
  let database = joining.get(shared)
  if (!database) {
    database = open(retryingClient(joiningClient(shared.$client)), shared.history)
    joining.set(shared, database)
  }
  return keepWriter(db, database)
}

/** The same cell for work that must not make too many queries: each is counted. */
export const withCount = (db: Database, onQuery: () => void): Database =>
  keepWriter(db, open(countingClient(db.$client, onQuery), db.history))

/** Cell 0 also holds the directory of all accounts. */
export const openDirectory = (env: Env): Database => openCell(env, 0)
