import { sql } from 'drizzle-orm'
import { openDirectory } from '../db/open.ts'
import { insertEntry, newAuditId } from '../db/queries/audit.ts'
import { statement } from '../db/statement.ts'
import { type ServiceContext, writerIn } from '../serviceContext.ts'

/* Exports and imports in the audit. */

/** In the account's audit, whoever exports it. */
export const recordExport = async (context: ServiceContext, entryId: string): Promise<void> => {
  const { db, accountId, now } = context
  const entry = {
    id: entryId,
    at: now(),
    writer: writerIn(context),
    action: 'account.exported',
    resource: { type: 'account', id: accountId },
    changes: [],
  }
  await statement(db, insertEntry(accountId, entry, sql`true`)).run()
}

/** In the operator's audit alone: the account's is as the archive has it. */
export const recordImport = async (context: ServiceContext): Promise<void> => {
  const { env, accountId, now } = context
  const at = now()
  const entry = {
    id: newAuditId(at),
    at,
    writer: writerIn(context),
    action: 'account.imported',
    resource: { type: 'account', id: accountId },
    changes: [],
  }
  await statement(openDirectory(env), insertEntry('', entry)).run()
}
