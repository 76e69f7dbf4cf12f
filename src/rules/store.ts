import { and, eq, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { rules } from '../db/schema.ts'
import { compile, readAll, readFirst, type Statement, statement } from '../db/statement.ts'
import type { Rule, RuleRecord } from '../domain/rule/rule.ts'

export interface RuleRow {
  id: string
  record: string
  creation: number
  last_modified: number
  version: number
}

export const toRule = (row: RuleRow): Rule => ({
  id: row.id,
  ...(JSON.parse(row.record) as RuleRecord),
  creation: row.creation,
  lastModified: row.last_modified,
  version: row.version,
})

export const isOwnRule = (accountId: string, id: string): SQL | undefined =>
  and(eq(rules.id, id), eq(rules.accountId, accountId))

export const selectRule = (db: Database, accountId: string, id: string): Statement<RuleRow> =>
  statement(db, sql`SELECT * FROM ${rules} WHERE ${isOwnRule(accountId, id)}`)

export const findRule = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Rule | null> => {
  const row = await readFirst(selectRule(db, accountId, id))
  return row && toRule(row)
}

/** In the order of their ids, those after `after`. */
export const listRules = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Rule[]> => {
  const rows = await readAll(
    statement<RuleRow>(
      db,
      sql`SELECT * FROM ${rules} WHERE ${rules.accountId} = ${accountId} AND ${rules.id} > ${after}
        ORDER BY ${rules.id} LIMIT ${limit}`,
    ),
  )
  return rows.map(toRule)
}

/** The account's rules that are in force. */
export const selectEnabledRules = compile<{ accountId: string }, RuleRow>(
  sql`SELECT * FROM ${rules}
    WHERE ${rules.accountId} = ${sql.placeholder('accountId')} AND ${rules.enabled} = 1
    ORDER BY ${rules.id}`,
)
