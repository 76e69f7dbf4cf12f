import { env } from 'cloudflare:workers'
import { openCell } from '../../../src/db/open.ts'
import type { RecordedStatement } from './scans.ts'

/** Cell 0, recording every statement that runs on it. */
export const recordCell = () => {
  const statements: RecordedStatement[] = []
  const made = new Map<D1PreparedStatement, RecordedStatement>()
  let written = 0
  const member = (target: object, name: PropertyKey) => {
    const found = Reflect.get(target, name)
    return typeof found === 'function' ? found.bind(target) : found
  }
  const bind = (sql: string, values: unknown[]) => {
    const statement = env.DB.prepare(sql).bind(...values)
    made.set(statement, { sql, values })
    for (const name of ['all', 'raw', 'first', 'run'] as const) {
      const run = member(statement, name)
      const value = (...options: unknown[]) => {
        statements.push({ sql, values })
        return run(...options)
      }
      Object.defineProperty(statement, name, { value })
    }
    return statement
  }
  const batch = async (list: D1PreparedStatement[]) => {
    statements.push(...list.map((statement) => made.get(statement) as RecordedStatement))
    const results = await env.DB.batch(list)
    for (const { meta } of results) written += meta.rows_written
    return results
  }
  const prepare = (sql: string) => ({ bind: (...values: unknown[]) => bind(sql, values) })
  const DB = new Proxy(env.DB, {
    get: (db, name) => (name === 'prepare' ? prepare : name === 'batch' ? batch : member(db, name)),
  })
  return { DB, db: openCell({ ...env, DB }, 0), statements, written: () => written }
}

/** How many rows the recorded queries read, found by running them again. */
export const rowsReadBy = async (statements: RecordedStatement[]): Promise<number> => {
  const queries = statements
    .filter(({ sql }) => /^\s*(SELECT|WITH)/i.test(sql))
    .map(({ sql, values }) => env.DB.prepare(sql).bind(...values))
  const results = queries.length === 0 ? [] : await env.DB.batch(queries)
  return results.reduce((sum, { meta }) => sum + meta.rows_read, 0)
}
