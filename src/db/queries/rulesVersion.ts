import { sql } from 'drizzle-orm'
import type { Database } from '../open.ts'
import { accounts, rules } from '../schema.ts'
import { compile, placeholders, type Statement } from '../statement.ts'

/*
 * The token that reports judge by. It changes in the batch of whatever changes a rule, a zone or who
 * is in a group, so that a report never judges by something outdated.
 */

const p = placeholders('accountId', 'token')

const RENEW = sql`UPDATE ${accounts} SET rules_version = CASE WHEN EXISTS (SELECT 1 FROM ${rules}
      WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1
        AND ${rules.type} NOT IN ('silent', 'returns')) THEN ${p.token} END
    WHERE ${accounts.id} = ${p.accountId}`

const renew = compile<{ accountId: string; token: string }>(RENEW)
const renewIfChanged = compile<{ accountId: string; token: string }>(
  sql`${RENEW} AND changes() > 0`,
)

/** Sets a new token, or none when no rule is left that a report judges by. */
export const renewRulesVersion = (db: Database, accountId: string): Statement =>
  renew(db, { accountId, token: crypto.randomUUID() })

/** The same, if the statement just before has changed something. */
export const renewAfterChange = (db: Database, accountId: string): Statement =>
  renewIfChanged(db, { accountId, token: crypto.randomUUID() })

const touch = compile<{ accountId: string; token: string }>(
  sql`UPDATE ${accounts} SET rules_version = ${p.token}
    WHERE ${accounts.id} = ${p.accountId} AND ${accounts.rulesVersion} IS NOT NULL
      AND changes() > 0`,
)

/**
 * Sets a new token if there is one, and if the statement just before has changed something. For
 * changes that neither add nor remove a rule.
 */
export const touchRulesVersion = (db: Database, accountId: string): Statement =>
  touch(db, { accountId, token: crypto.randomUUID() })
