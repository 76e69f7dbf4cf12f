import { sql } from 'drizzle-orm'
import type { Database } from './open.ts'
import { accounts, rules } from './schema.ts'
import { compile, placeholders, type Statement } from './statement.ts'

/*
 * The token that reports judge by. It changes in the batch of whatever changes a rule, a zone or who
 * is in a group, so that a report never judges by something outdated.
 */

const p = placeholders('accountId', 'token')

const update = compile<{ accountId: string; token: string }>(
  sql`UPDATE ${accounts} SET rules_version = CASE WHEN EXISTS (SELECT 1 FROM ${rules}
      WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1
        AND ${rules.type} NOT IN ('silent', 'returns')) THEN ${p.token} END
    WHERE ${accounts.id} = ${p.accountId}`,
)

/** Sets a new token, or none when no rule is left that a report judges by. */
export const renewRulesVersion = (db: Database, accountId: string): Statement =>
  update(db, { accountId, token: crypto.randomUUID() })

const touch = compile<{ accountId: string; token: string }>(
  sql`UPDATE ${accounts} SET rules_version = ${p.token}
    WHERE ${accounts.id} = ${p.accountId} AND ${accounts.rulesVersion} IS NOT NULL`,
)

/** Sets a new token if there is one. For changes that neither add nor remove a rule. */
export const touchRulesVersion = (db: Database, accountId: string): Statement =>
  touch(db, { accountId, token: crypto.randomUUID() })
