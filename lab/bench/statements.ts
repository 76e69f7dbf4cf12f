import { type DrizzleD1Database, drizzle } from 'drizzle-orm/d1'
import type { Database } from '../../src/db/open.ts'
import { packLocation } from '../../src/db/queries/locations.ts'
import * as schema from '../../src/db/schema.ts'
import { newId } from '../../src/ids.ts'
import { INITIAL_STATE } from '../../src/ingest/arrival.ts'
import { storeArrivals } from '../../src/ingest/store.ts'

type Value = string | number | null

export interface RecordedStatement {
  sql: string
  values: Value[]
}

/** A database that returns nothing and records every statement it is asked to run. */
const recordingDatabase = (recorded: RecordedStatement[]): D1Database => {
  const prepare = (sql: string, values: Value[]): object => {
    const recordAndReturn = (nothing: unknown) => async () => {
      recorded.push({ sql, values })
      return nothing
    }
    const empty = { results: [], meta: { changes: 0 } }
    return {
      sql,
      values,
      bind: (...given: Value[]) => prepare(sql, given),
      first: recordAndReturn(null),
      all: recordAndReturn(empty),
      run: recordAndReturn(empty),
      raw: recordAndReturn([]),
    }
  }
  return {
    prepare: (sql: string) => prepare(sql, []),
    batch: async (statements: RecordedStatement[]) => {
      recorded.push(...statements.map(({ sql, values }) => ({ sql, values })))
      return statements.map(() => ({ results: [], meta: { changes: 0 } }))
    },
  } as unknown as D1Database
}

/** The statements that a store function runs, recorded by calling it once. */
export const recordStatements = async (
  run: (db: Database) => Promise<unknown>,
): Promise<RecordedStatement[]> => {
  const recorded: RecordedStatement[] = []
  await run(
    drizzle(recordingDatabase(recorded), { schema }) as DrizzleD1Database<typeof schema> & {
      $client: D1Database
    },
  )
  return recorded
}

/** Prepares a recorded statement with a request's values in place of the recorded ones. */
export const prepareAgain = (
  { sql, values }: RecordedStatement,
  replacements: Map<Value, Value>,
  db: D1Database,
): D1PreparedStatement =>
  db.prepare(sql).bind(...values.map((value) => replacements.get(value) ?? value))

const location = { dateTime: Date.UTC(2026, 0, 1), latitude: 0, longitude: 0 }

/** Equals no other recorded value, so that it can be replaced by the time of the request. */
const RECORDED_AT = Date.UTC(2026, 0, 2, 3, 4, 5, 678)
const recordedReport = recordStatements((db) =>
  storeArrivals(db, {
    viewer: { accountId: 'ACCOUNT', groupId: null },
    devices: [
      {
        deviceId: 'ID',
        identifier: null,
        eventId: 'EVENT',
        contact: RECORDED_AT,
        arrivals: [{ location, receivedAt: RECORDED_AT }],
      },
    ],
    raisesBy: null,
    checksCredibility: false,
    assumed: INITIAL_STATE,
    origin: 'https://perigee.test',
    now: RECORDED_AT,
  }),
)

/** The batch of a report, for locations that are packed already. */
export const reportStatements = async (
  db: D1Database,
  accountId: string,
  deviceId: string,
  packed: string,
): Promise<D1PreparedStatement[]> => {
  const replacements = new Map<Value, Value>([
    ['ACCOUNT', accountId],
    ['ID', deviceId],
    [
      JSON.stringify([['ID', null, 'EVENT', RECORDED_AT]]),
      JSON.stringify([[deviceId, null, await newId('evt'), Date.now()]]),
    ],
    [JSON.stringify([packLocation(location)]), packed],
    [RECORDED_AT, Date.now()],
    // The oldest of the report's locations: none is older than the account keeps.
    [location.dateTime, Date.now()],
  ])
  return (await recordedReport).map((statement) => prepareAgain(statement, replacements, db))
}
