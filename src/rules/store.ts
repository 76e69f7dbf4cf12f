import { getTableColumns, type SQL, sql } from 'drizzle-orm'
import { ownedRows } from '../db/queries/owned.ts'
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

export const ownRules = ownedRows('rule', rules, (where: SQL) =>
  select(getTableColumns(rules), sql`FROM ${rules} ${where}`).map(toRule),
)

/** The account's rules that are in force. */
export const selectEnabledRules = compile((p: Placeholders<{ accountId: string }>) =>
  select(
    getTableColumns(rules),
    sql`FROM ${rules} WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1
      ORDER BY ${rules.id}`,
  ),
)
