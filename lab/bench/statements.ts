import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import { packLocation } from '../../src/db/locations.ts'
import type { Database } from '../../src/db/open.ts'
import * as schema from '../../src/db/schema.ts'
import { newId } from '../../src/ids.ts'
import { INITIAL_STATE, storeReport } from '../../src/locations/store.ts'

type Value = string | number | null

export interface Statement {
  sql: string
  values: Value[]
}

/** Answers nothing, and writes down what it was asked. */
const listening = (heard: Statement[]): D1Database => {
  const statement = (sql: string, values: Value[]): object => {
    const answering = (nothing: unknown) => async () => {
      heard.push({ sql, values })
      return nothing
    }
    const empty = { results: [], meta: { changes: 0 } }
    const bind = (...given: Value[]) => statement(sql, given)
    return {
      sql,
      values,
      bind,
      first: answering(null),
      all: answering(empty),
      run: answering(empty),
      raw: answering([]),
    }
  }
  return {
    prepare: (sql: string) => statement(sql, []),
    batch: async (all: Statement[]) => {
      heard.push(...all.map(({ sql, values }) => ({ sql, values })))
      return all.map(() => ({ results: [], meta: { changes: 0 } }))
    },
  } as unknown as D1Database
}

/** The very statements that a store function runs: it is called once, on a database that only listens. */
export const statementsOf = async (
  run: (db: Database) => Promise<unknown>,
): Promise<Statement[]> => {
  const heard: Statement[] = []
  await run(
    drizzle(listening(heard), { schema }) as DrizzleD1Database<typeof schema> & {
      $client: D1Database
    },
  )
  return heard
}

/** Puts a request's own values in the place of those that the statements were heard with. */
export const withValues = (
  { sql, values }: Statement,
  own: Map<Value, Value>,
  db: D1Database,
): D1PreparedStatement => db.prepare(sql).bind(...values.map((value) => own.get(value) ?? value))

const track = { accountId: 'ACCOUNT', groupId: null, deviceId: 'ID' }
const location = { dateTime: Date.UTC(2000, 0, 1), latitude: 0, longitude: 0 }

/** A number that nothing else is: it stands for the moment of the request. */
const HEARD_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const report = statementsOf((db) =>
  storeReport(db, track, [location], 'EVENT', INITIAL_STATE, HEARD_AT),
)

/** The batch of a report, for locations that are packed already. */
export const reportStatements = async (
  db: D1Database,
  accountId: string,
  deviceId: string,
  packed: string,
): Promise<D1PreparedStatement[]> => {
  const own = new Map<Value, Value>([
    ['ACCOUNT', accountId],
    ['ID', deviceId],
    ['EVENT', await newId('evt')],
    [JSON.stringify([packLocation(location)]), packed],
    [HEARD_AT, Date.now()],
  ])
  return (await report).map((statement) => withValues(statement, own, db))
}
