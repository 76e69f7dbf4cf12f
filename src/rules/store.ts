import { and, eq, getTableColumns, gt, type SQL, sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { rules } from '../db/schema.ts'
import { compile, type Placeholders } from '../db/statement.ts'
import type { Rule } from '../domain/rule/rule.ts'

type RuleRow = typeof rules.$inferSelect

export const toRule = ({ id, record, creation, lastModified, version }: RuleRow): Rule => ({
  id,
  ...record,
  creation,
  lastModified,
  version,
})

export const isOwnRule = (accountId: string, id: string): SQL | undefined =>
  and(eq(rules.id, id), eq(rules.accountId, accountId))

export const selectRule = (db: Database, accountId: string, id: string) =>
  db.select().from(rules).where(isOwnRule(accountId, id))

export const findRule = async (
  db: Database,
  accountId: string,
  id: string,
): Promise<Rule | null> => {
  const row = await selectRule(db, accountId, id).get()
  return row ? toRule(row) : null
}

/** In the order of their ids, those after `after`. */
export const listRules = async (
  db: Database,
  accountId: string,
  after: string,
  limit: number,
): Promise<Rule[]> => {
  const rows = await db
    .select()
    .from(rules)
    .where(and(eq(rules.accountId, accountId), gt(rules.id, after)))
    .orderBy(rules.id)
    .limit(limit)
  return rows.map(toRule)
}

/** The account's rules that are in force. */
export const selectEnabledRules = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    getTableColumns(rules),
    sql`FROM ${rules} WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1
      ORDER BY ${rules.id}`,
  ),
)
