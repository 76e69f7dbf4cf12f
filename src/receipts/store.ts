import { sql } from 'drizzle-orm'
import type { Database } from '../db/open.ts'
import { select } from '../db/query.ts'
import { messages } from '../db/schema.ts'
import { compile, type Placeholders, readFirst } from '../db/statement.ts'

const selectSent = compile((p: Placeholders<{ providerId: string }>) =>
  select(
    { accountId: messages.accountId, id: messages.id },
    sql`FROM ${messages} WHERE ${messages.providerId} = ${p.providerId} LIMIT 1`,
  ),
)

/** The message that a provider has accepted under its own id. */
export const findSentMessage = (db: Database, providerId: string) =>
  readFirst(selectSent(db, { providerId }))
