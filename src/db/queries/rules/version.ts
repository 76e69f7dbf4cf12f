import { sql } from 'drizzle-orm'
import type { Database } from '../../open.ts'
import { accounts, rules } from '../../schema.ts'
import { compile, type Placeholders, type Statement } from '../../statement.ts'

/*
 * The token of the rules that reports are evaluated by. It changes in the batch of whatever changes
 * a rule, a zone or who is in a group, so that a report is never evaluated by something outdated.
 */

type Renewal = Placeholders<{ accountId: string; token: string }>

const renewal = (p: Renewal) =>
  sql`UPDATE ${accounts} SET rules_version = CASE WHEN EXISTS (SELECT 1 FROM ${rules}
      WHERE ${rules.accountId} = ${p.accountId} AND ${rules.enabled} = 1
        AND ${rules.type} NOT IN ('silent', 'returns')) THEN ${p.token} END
    WHERE ${accounts.id} = ${p.accountId}`

const renew = compile(renewal)
const renewChanged = compile((p: Renewal) => sql`${renewal(p)} AND changes() > 0`)
const touchChanged = compile(
  (p: Renewal) => sql`UPDATE ${accounts} SET rules_version = ${p.token}
    WHERE ${accounts.id} = ${p.accountId} AND ${accounts.rulesVersion} IS NOT NULL
      AND changes() > 0`,
)

/** Sets a new token, or none when no rule is left that a report is evaluated by. */
export const renewRulesVersion = (db: Database, accountId: string): Statement =>
  renew(db, { accountId, token: crypto.randomUUID() })

/** The same, if the statement before it has changed something. */
export const renewIfChanged = (db: Database, accountId: string): Statement =>
  renewChanged(db, { accountId, token: crypto.randomUUID() })

/** The same, where the statement before it neither adds nor removes a rule. */
export const touchIfChanged = (db: Database, accountId: string): Statement =>
  touchChanged(db, { accountId, token: crypto.randomUUID() })
