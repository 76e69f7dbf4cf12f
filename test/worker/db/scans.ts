import { runInDurableObject } from 'cloudflare:test'
import { env } from 'cloudflare:workers'
import { ledgerStub } from '../../support/ledger.ts'

export interface RecordedStatement {
  sql: string
  values: unknown[]
}

interface Step {
  id: number
  parent: number
  detail: string
}

/**
 * Tables that may be read whole. In an object: one row, a few for each webhook, those of some days,
 * the license log, which usage is counted from and which has at most 100,000 lines, and the outbox,
 * which is read a page at a time from its end. In the directory: one row a cell, a few keys, and one for
 * each account that has moved.
 */
const SMALL_TABLES =
  'account|feed_state|webhook_workers|log|message_usage|secrets|audit_entries|disable_notices|emergencies|notices|outbox|cells|moves|push_keys|sweep_runs|d1_migrations|sqlite_sequence'
/** A table that grows is read from its first row to the last. */
const READS_TABLE = new RegExp(
  `^SCAN (?!\\w+ VIRTUAL TABLE|CONSTANT ROW|\\(subquery-\\d+\\)|(${SMALL_TABLES})\\b)`,
)
/** All rows of an account are read, not a range of an index. One row has a `_unique` one. */
const READS_ACCOUNT = /USING .*INDEX (?!\w+_unique)(\w+) \(account_id=\?\)$/
/** An account has at most a few hundred of each, or a thousand. Reconciling goes through all memberships. */
const SMALL =
  /^(webhooks_|rules_|zones_|watches_|shares_|sources_|source_directory_|(users|group_devices)_account$)/

/** A move copies and compares everything that an account has, in pages. */
const IS_OF_MOVE = /\bmove_changes\b|\bpage_bytes\b/

/** The steps that read all rows. Those of a subquery are found by steps of their own. */
const scansIn = (sql: string, steps: Step[]): string[] => {
  const subqueries = new Set(
    steps.flatMap(({ parent, detail }) => {
      const name = detail.match(/^(?:CO-ROUTINE|MATERIALIZE) (\w+)$/)?.[1]
      return name ? [`${parent} SCAN ${name}`] : []
    }),
  )
  /** A page in the order of its index ends at its limit; one that is sorted is read whole. */
  const isPage = ({ parent }: Step) =>
    /\bLIMIT\b/i.test(sql) &&
    !steps.some((step) => step.parent === parent && step.detail.includes('TEMP B-TREE'))
  /** The first rows of an index, or of a table without a condition. */
  const isOldest = (step: Step) =>
    isPage(step) && (/ USING COVERING INDEX /.test(step.detail) || !/\bWHERE (?!true\b)/i.test(sql))
  return steps
    .filter((step) => {
      if (IS_OF_MOVE.test(sql)) return false
      if (READS_TABLE.test(step.detail))
        return !subqueries.has(`${step.parent} ${step.detail}`) && !isOldest(step)
      const index = step.detail.match(READS_ACCOUNT)?.[1]
      return index !== undefined && !SMALL.test(index) && !isPage(step)
    })
    .map(({ detail }) => detail)
}

/** The plan of a statement, step by step. */
export const planOf = async ({ sql, values }: RecordedStatement): Promise<Step[]> =>
  (
    await env.DB.prepare(`EXPLAIN QUERY PLAN ${sql}`)
      .bind(...values)
      .all<Step>()
  ).results

/** The steps of these statements that scan, each with its statement. */
export const scansOf = async (statements: RecordedStatement[]): Promise<string[]> => {
  const found: string[] = []
  for (const statement of statements)
    for (const scan of scansIn(statement.sql, await planOf(statement)))
      found.push(`${scan} in ${statement.sql}`)
  return found
}

/** Records every statement that the Worker and its objects bind on a cell, each text once. */
export const recordStatements = (): (() => RecordedStatement[]) => {
  const recorded = new Map<string, unknown[]>()
  const statement = Object.getPrototypeOf(env.DB.prepare('SELECT 1'))
  const { bind } = statement
  statement.bind = function (this: { statement: string }, ...values: unknown[]) {
    recorded.set(this.statement, values)
    return bind.apply(this, values)
  }
  return () => [...recorded].map(([sql, values]) => ({ sql, values }))
}

/** Erases an account. */
const DELETES_ALL = /^DELETE FROM \w+ WHERE true$/

/** Explains every statement that objects run in storage of their own, each text once. */
export const recordObjectScans = async (): Promise<() => string[]> => {
  const explained = new Map<string, string[]>()
  await runInDurableObject(ledgerStub({ id: 'of-the-recorder' }), (_, { storage }) => {
    const prototype = Object.getPrototypeOf(storage.sql)
    const { exec } = prototype
    prototype.exec = function (this: SqlStorage, text: string, ...values: unknown[]) {
      if (
        !explained.has(text) &&
        !DELETES_ALL.test(text) &&
        /^\s*(SELECT|WITH|INSERT|UPDATE|DELETE)/i.test(text)
      ) {
        const steps = [...exec.call(this, `EXPLAIN QUERY PLAN ${text}`, ...values)] as Step[]
        explained.set(text, scansIn(text, steps))
      }
      return exec.call(this, text, ...values)
    }
  })
  return () => [...explained].flatMap(([text, scans]) => scans.map((scan) => `${scan} in ${text}`))
}
