import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { messages } from '../db/schema.ts'
import { compile, type Placeholders, readAll } from '../db/statement.ts'

const selectSent = compile((p: Placeholders<{ providerIds: string }>) =>
  select(
    { providerId: messages.providerId, accountId: messages.accountId, id: messages.id },
    sql`FROM ${messages}
      WHERE ${messages.providerId} IN (SELECT value FROM json_each(${p.providerIds}))`,
  ),
)

/** The messages that a provider has accepted under ids of its own. */
export const findSentMessages = (db: Database, providerIds: string[]) =>
  readAll(selectSent(db, { providerIds: JSON.stringify(providerIds) }))
